//! A cache that holds up to a number of bytes, and drops what was not asked for recently.

use std::collections::HashMap;
use std::hash::Hash;

/// Values by their keys. There are two halves: when the younger is full, it becomes the older, whose values are forgotten
/// unless they were asked for meanwhile.
#[derive(Debug)]
pub(crate) struct Cache<K, V> {
    younger: HashMap<K, V>,
    older: HashMap<K, V>,
    bytes: usize,
    limit: usize,
}

impl<K: Hash + Eq + Copy, V: Clone> Cache<K, V> {
    /// Nothing yet, and never more than so many bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self { younger: HashMap::new(), older: HashMap::new(), bytes: 0, limit }
    }

    /// A value that is still known; `size` tells how many bytes it has.
    pub(crate) fn get(&mut self, key: &K, size: impl FnOnce(&V) -> usize) -> Option<V> {
        if let Some(found) = self.younger.get(key) {
            return Some(found.clone());
        }
        let found = self.older.remove(key)?;
        self.put(*key, found.clone(), size(&found));
        Some(found)
    }

    /// Remembers a value of so many bytes.
    pub(crate) fn put(&mut self, key: K, value: V, size: usize) {
        if size > self.limit / 2 {
            return;
        }
        if self.bytes + size > self.limit / 2 {
            self.bytes = 0;
            self.older = std::mem::take(&mut self.younger);
        }
        self.bytes += size;
        self.younger.insert(key, value);
    }
}

#[cfg(test)]
mod tests {
    use super::Cache;

    #[test]
    fn value_that_was_asked_for_stays_and_others_go() {
        let mut cache = Cache::new(8);
        for key in 0..4 {
            cache.put(key, key, 2);
        }
        assert_eq!(cache.get(&0, |_| 2), Some(0), "of the older half");
        cache.put(4, 4, 2);
        assert_eq!(cache.get(&0, |_| 2), Some(0), "asked for");
        assert_eq!(cache.get(&1, |_| 2), None, "not asked for");
        cache.put(9, 9, 5);
        assert_eq!(cache.get(&9, |_| 5), None, "too large");
    }
}
