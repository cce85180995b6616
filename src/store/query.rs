//! Short ways to ask SQLite, and our types as columns. Every statement is prepared once and kept.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Params, Row};

use super::Failure;
use super::zones::StoredZone;
use crate::proof::digest::CommitId;
use crate::proof::record::Id;
use crate::proof::scheme::Scheme;
use crate::proof::timestamp::Timestamp;

/// The kinds of questions that this folder asks.
pub(super) trait Query {
    fn connection(&self) -> &Connection;

    /// Changes something; the answer is how many rows.
    fn run(&self, sql: &str, parameters: impl Params) -> Result<usize, Failure> {
        Ok(self.connection().prepare_cached(sql)?.execute(parameters)?)
    }

    /// All rows, each read by `read`.
    fn all<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        mut read: impl FnMut(&Row<'_>) -> Result<T, Failure>,
    ) -> Result<Vec<T>, Failure> {
        let mut statement = self.connection().prepare_cached(sql)?;
        let mut rows = statement.query(parameters)?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            all.push(read(row)?);
        }
        Ok(all)
    }

    /// The first row, if there is one.
    fn first<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnMut(&Row<'_>) -> Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        self.connection().prepare_cached(sql)?.query(parameters)?.next()?.map(read).transpose()
    }

    /// The first column of the only row.
    fn value<T: FromSql>(&self, sql: &str, parameters: impl Params) -> Result<T, Failure> {
        Ok(self.connection().prepare_cached(sql)?.query_row(parameters, |row| row.get(0))?)
    }

    /// The first column of the first row, if there is one.
    fn first_value<T: FromSql>(&self, sql: &str, parameters: impl Params) -> Result<Option<T>, Failure> {
        Ok(self.connection().prepare_cached(sql)?.query_row(parameters, |row| row.get(0)).optional()?)
    }
}

impl Query for Connection {
    fn connection(&self) -> &Connection {
        self
    }
}

/// Columns of text that one of our types reads. What it refuses is damage, named in the error.
macro_rules! columns {
    ($($type:ty: $what:literal;)*) => {$(
        impl FromSql for $type {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                <$type>::parse(value.as_str().unwrap_or_default()).ok_or_else(|| FromSqlError::Other($what.into()))
            }
        }
    )*};
}

columns! {
    CommitId: "a commit id";
    Id: "an id";
    Scheme: "a scheme";
    StoredZone: "a zone";
    Timestamp: "a time";
}
