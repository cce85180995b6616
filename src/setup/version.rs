//! Which git this is, and what it can do.

use crate::context::Context;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GitVersion {
    /// As git prints it, without `git version`.
    pub(crate) text: String,
    numbers: Option<(u32, u32)>,
}

impl GitVersion {
    /// Asks git.
    pub(crate) fn ask(context: &Context) -> Result<Self, String> {
        let said = super::settings::git(context, ["--version"])?;
        Ok(Self::parse(&String::from_utf8_lossy(&said)))
    }

    /// Reads what `git --version` prints: `git version 2.39.5 (Apple Git-154)`, `2.54.0.windows.1`, `2.54.GIT`.
    fn parse(said: &str) -> Self {
        let text = said.trim().trim_start_matches("git version").trim().to_owned();
        let mut parts = text.split(|character: char| !character.is_ascii_digit()).map(str::parse);
        let numbers = match (parts.next(), parts.next()) {
            (Some(Ok(major)), Some(Ok(minor))) => Some((major, minor)),
            _ => None,
        };
        Self { text, numbers }
    }

    /// Whether it runs hooks that are commands in its configuration. One that cannot be told runs files for certain.
    pub(crate) fn runs_configured_hooks(&self) -> bool {
        self.numbers.is_some_and(|numbers| numbers >= (2, 54))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_runs_configured_hooks_from_2_54_on() {
        for said in ["git version 2.54.0\n", "git version 2.54.0-rc1", "git version 2.54.GIT", "git version 3.0.1"] {
            assert!(GitVersion::parse(said).runs_configured_hooks(), "{said}");
        }
        for said in
            ["git version 2.53.1", "git version 2.39.5 (Apple Git-154)", "git version 1.99.0", "", "jj 2", "git"]
        {
            assert!(!GitVersion::parse(said).runs_configured_hooks(), "{said}");
        }
        assert_eq!(GitVersion::parse("git version 2.54.0.windows.1\n").text, "2.54.0.windows.1");
    }
}
