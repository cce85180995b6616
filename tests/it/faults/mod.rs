//! What happens to `seal`, `rounds accept` and `vouch` when a system call fails, to every command that writes when it is
//! killed, and to a team whose processes are killed at any moment. The faults of other commands are beside their tests.

mod calls;
mod killed;
mod points;
mod rows;
mod team;
