//! Looking through rows: their texts, and what there is of them.
