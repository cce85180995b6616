//! Long work, seen from outside: how far it has come.

use std::fmt;
use std::rc::Rc;

/// Is told, every thousand entries or so, how many of how many have been gone over. It must return at once.
#[derive(Clone)]
pub struct Watcher(Rc<dyn Fn(u64, u64)>);

impl Watcher {
    /// Someone who watches.
    pub fn new(tell: impl Fn(u64, u64) + 'static) -> Self {
        Self(Rc::new(tell))
    }

    pub(super) fn tell(&self, done: u64, total: u64) {
        (self.0)(done, total);
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watcher")
    }
}
