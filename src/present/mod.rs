//! How a verdict is told. Every printer (terminal, page, Markdown, annotations, JUnit, SARIF, hooks) takes its words from
//! here, so that one verdict never has two names. Pure: values in, text out.

mod escape;
mod github;
mod html;
mod junit;
mod markdown;
mod observed;
mod rejected;
mod report;
mod rules;
mod sarif;
mod story;
mod verdict;
pub use github::{github, github_error};
pub use html::html;
pub use junit::junit;
pub use markdown::{COMMENT, SUMMARY, markdown};
pub use observed::{file, observed, record, reflection, seen};
pub use report::Report;
pub use rules::{Rule, rule};
pub use sarif::sarif;
pub use story::story;
pub use verdict::{
    ORDER, WORD_OF_A_PERSON, capitalized, commits, counted, counts, evidence, exit_code, headline, plain_sign,
    range_headline, severity, sign, word,
};
