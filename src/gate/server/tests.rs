//! Servers that misbehave on command.
