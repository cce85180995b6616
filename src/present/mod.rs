//! How a verdict is told. Every printer (terminal, page, Markdown, annotations, JUnit, SARIF, hooks) takes its words from
//! here, so that one verdict never has two names. Pure: values in, text out.

mod comment;
mod escape;
mod github;
mod html;
mod junit;
mod observed;
mod rejected;
mod report;
mod rows;
mod rules;
mod sarif;
mod verdict;
pub use comment::{COMMENT, SUMMARY, markdown, story};
pub use escape::xml;
pub use github::{github, github_error};
pub use html::html;
pub use junit::junit;
pub use observed::{attested, checks, file, record, reflection, seen};
pub use report::Report;
pub use rules::{Rule, rule};
pub use sarif::sarif;
pub use verdict::{
    ORDER, WORD_OF_A_PERSON, capitalized, commits, counted, counts, evidence, exit_code, headline, plain_sign,
    range_headline, severity, sign, standing, word,
};
