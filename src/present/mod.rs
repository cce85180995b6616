//! How a verdict is told. Every printer (terminal, page, Markdown, annotations, JUnit, SARIF, hooks) takes its words from
//! here, so that one verdict never has two names. Pure: values in, text out.

mod observed;
mod verdict;

pub use observed::{observed, record, reflection, seen};
pub use verdict::{
    ORDER, WORD_OF_A_PERSON, capitalized, commits, counted, counts, evidence, exit_code, headline, plain_sign,
    range_headline, severity, sign, word,
};
