//! `init` and `doctor`: the files that make git and agents call this program.

mod agent_files;
mod agents;
mod block;
mod doctor;
mod files;
mod hook_files;
mod hooks;
mod init;
mod json;
mod layout;
mod lines;
mod managers;
mod modes;
mod notes;
mod outcome;
mod policy_file;
mod render;
mod script;
mod settings;
mod survey;
mod version;
pub use doctor::{DoctorCheck, DoctorOutcome, DoctorState, HookState, doctor, hook_states};
pub(crate) use files::{Staged, unwritable};
pub use hooks::{HookChange, WiredBy};
pub use init::{InitRequest, init};
pub use managers::{HookManager, ManagerName, Paste};
pub use outcome::{Action, FileChange, InitOutcome, Notice, SettingChange};
