//! Options of commands that take a password without naming it: `curl -u ada:…`, `mysql -p…`.

use memchr::memmem;

use super::Secret;
use super::value::{Strength, is_short_password, strength};

/// How far the option may be from the command.
const LONGEST: usize = 256;

/// A command, the option, and what follows it.
struct Login {
    command: &'static str,
    option: &'static str,
    takes: Takes,
    /// Whether no space may be between the option and what it takes.
    is_attached: bool,
}

const fn login(command: &'static str, option: &'static str, takes: Takes) -> Login {
    Login { command, option, takes, is_attached: false }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// `name:password`
    Pair,
    Password,
    /// The password in quotation marks.
    Quoted,
}

const LOGINS: &[Login] = &[
    login("curl", "-u", Takes::Pair),
    login("curl", "--user", Takes::Pair),
    login("curl", "--proxy-user", Takes::Pair),
    login("http", "-a", Takes::Pair),
    login("sshpass", "-p", Takes::Password),
    Login { is_attached: true, ..login("mysql", "-p", Takes::Password) },
    Login { is_attached: true, ..login("mysqldump", "-p", Takes::Password) },
    Login { is_attached: true, ..login("7z", "-p", Takes::Password) },
    login("redis-cli", "-a", Takes::Password),
    login("login", "-p", Takes::Password),
    login("openssl", "-passin pass:", Takes::Password),
    login("openssl", "-pass pass:", Takes::Password),
    login("openssl", "-k ", Takes::Password),
    login("ldapsearch", "-w", Takes::Password),
    login("ldapadd", "-w", Takes::Password),
    login("smbclient", "-U", Takes::Pair),
    login("machine", "password", Takes::Password),
    login("IDENTIFIED", "BY ", Takes::Quoted),
    login("identified", "by ", Takes::Quoted),
];

/// The password that the command at `start..end` logs in with.
pub(super) fn find(text: &str, start: usize, end: usize) -> Option<Secret> {
    let name = &text[start..end];
    // Most words of a text are no command: their first letter or their length shows it.
    if !(2..=10).contains(&name.len()) || !b"chs7mrloiI".contains(&name.as_bytes()[0]) {
        return None;
    }
    let mut logins = LOGINS.iter().filter(|login| login.command == name);
    let is_login = logins.any(|login| login.has_password(&text.as_bytes()[end..]));
    is_login.then_some(Secret { what: "a password of a command", at: start })
}

impl Login {
    /// Whether a password is among these arguments.
    fn has_password(&self, rest: &[u8]) -> bool {
        let rest = &rest[..rest.len().min(LONGEST)];
        let ends_line = |at: &usize| rest[*at] == b'\n' && !rest[..*at].trim_ascii_end().ends_with(b"\\");
        let rest = &rest[..(0..rest.len()).find(ends_line).unwrap_or(rest.len())];
        let is_option = |at: &usize| at.checked_sub(1).is_some_and(|before| rest[before].is_ascii_whitespace());
        let Some(option) = memmem::find_iter(rest, self.option).find(is_option) else { return false };
        let argument = &rest[option + self.option.len()..];
        let argument = if self.is_attached { argument } else { argument.trim_ascii_start() };
        let quote = argument.first().copied().filter(|byte| matches!(byte, b'"' | b'\''));
        let argument = &argument[usize::from(quote.is_some())..];
        let ends = |byte: u8| quote.map_or(byte.is_ascii_whitespace() || byte == b'<', |quote| byte == quote);
        let length = argument.iter().position(|byte| ends(*byte)).unwrap_or(argument.len());
        let password = match self.takes {
            Takes::Quoted if quote.is_none() => return false,
            Takes::Password | Takes::Quoted => &argument[..length],
            Takes::Pair => argument[..length].splitn(2, |byte| *byte == b':').nth(1).unwrap_or_default(),
        };
        strength(password) >= Strength::Chosen || is_short_password(password)
    }
}
