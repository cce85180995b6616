//! How long texts stay and where they go: retention, archives, working memory, backups, imports.

mod backup;
mod import;
mod memory;
mod moving;
mod outcome;
mod plan;
mod retain;
mod settings;
pub use backup::{BackupOutcome, BackupRequest, backup};
pub use import::{
    EvidenceImport, FileImport, ImportedSession, RefusedEvidence, import_evidence, import_file, import_hint,
};
pub use memory::{
    DropOutcome, MemoryOutcome, MemoryProof, PackOutcome, PackRequest, PutOutcome, PutRequest, memory, memory_drop,
    memory_pack, memory_prove, memory_put,
};
pub use outcome::{Move, Problem, RetainOutcome, RetainRequest, Undecided, ZoneSummary};
pub use plan::{Because, Zone};
pub use retain::retain;
pub use settings::Limits;
