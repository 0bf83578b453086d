//! The errors for patterns that cannot be used.

use lockgate_error::{Code, Error};
use lockgate_python_re as python_re;

/// Converts an error of the pattern engine.
pub(super) fn pattern_error(error: python_re::Error) -> Error {
    let code = match error {
        python_re::Error::Pattern(_) | python_re::Error::Flags(_) | python_re::Error::Template(_) => {
            Code::BadPattern
        }
        python_re::Error::OutOfSteps => Code::RegexBudget,
        python_re::Error::TooLarge(_) => {
            return Error::new(Code::TooLarge, error.to_string()).field("replace");
        }
        python_re::Error::Disagreement => Code::Internal,
    };
    Error::new(code, error.to_string())
}
