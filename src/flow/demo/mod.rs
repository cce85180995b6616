//! `demo`: a play in a scratch repository. An agent works and says why; its reasons are anchored and sealed; then three
//! things are forged, and each must be caught. The commands are run by the real program, as a person would type them.

mod forgery;
mod stage;

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};
use crate::proof::finding::{FindingCode, Verdict};

use forgery::Forgery;
use stage::Stage;

/// The options of the demo.
#[derive(Debug, Clone, Default)]
pub struct DemoRequest {
    /// Where to play: a directory that is empty or not there yet. One of its own if not given.
    pub directory: Option<PathBuf>,
    /// Whether the commands may paint what they print.
    pub colour: bool,
    /// Columns that they may take.
    pub columns: usize,
    /// Whether `report --html` is there to make a page of it.
    pub page: bool,
}

/// A step of the demo, to be shown.
#[derive(Debug, Clone, Copy)]
pub enum Scene<'a> {
    /// The place.
    Opening(&'a Path),
    /// A new act.
    Act(&'a str),
    /// A sentence about the next step.
    Told(&'a str),
    /// A command, before it runs.
    Typed(&'a str),
    /// The output of the command.
    Printed(&'a str),
    /// The output of the command, of which the first line is enough.
    Began(&'a str),
    /// A forgery, and whether it was caught, by this finding.
    Judged(&'a Forged),
}

/// How the play ended.
#[derive(Debug, Clone, Serialize)]
pub struct DemoOutcome {
    /// Where it was played.
    pub directory: PathBuf,
    /// `pass` if everything went as it must: the honest branch is proven, and every forgery is caught.
    pub verdict: Verdict,
    /// Whether the honest branch, `main`, is proven after all of it.
    pub proven: bool,
    pub forgeries: Vec<Forged>,
    /// The page, where one could be made.
    pub page: Option<PathBuf>,
}

/// A forgery, and what became of it.
#[derive(Debug, Clone, Serialize)]
pub struct Forged {
    /// The branch that it is on.
    pub branch: &'static str,
    /// The finding that must catch it.
    pub code: FindingCode,
    /// Whether it did.
    pub caught: bool,
}

/// Shows each step. An error ends the demo.
pub type Audience<'a> = &'a mut dyn FnMut(Scene<'_>) -> Result<()>;

const BEFORE: &str = "def charge(account, amount):\n    return bank.send(account, amount)\n";
const AFTER: &str = "def charge(account, amount, key):\n    if key in seen:\n        return seen[key]\n    \
                     seen[key] = bank.send(account, amount)\n    return seen[key]\n";

/// Plays.
pub fn demo(context: &Context, request: &DemoRequest, audience: Audience<'_>) -> Result<DemoOutcome> {
    let stage = Stage::build(context, request)?;
    audience(Scene::Opening(stage.directory()))?;

    audience(Scene::Act("An agent works, and says why"))?;
    stage.write("charge.py", BEFORE)?;
    stage.write(".proof/policy.toml", "[proof_grade]\nrequire = \"all\"\n")?;
    stage.commit("Charge an account")?;
    work(&stage, audience)?;

    audience(Scene::Act("The reasons are anchored on the commit, and sealed"))?;
    stage.proof(audience, &["finalize"], false)?;
    stage.git(audience, &["commit", "--quiet", "-m", "Charge once, however often it is asked for"])?;
    stage.proof(audience, &["anchor", "--no-sign"], false)?;
    stage.proof(audience, &["seal", "--no-sign"], false)?;
    audience(Scene::Told("Whoever has a clone can check it, and read what was decided:"))?;
    stage.proof(audience, &["show", "--no-pager", "main"], true)?;

    audience(Scene::Act("Mallory forges, three times"))?;
    let mut forgeries = Vec::new();
    for forgery in Forgery::ALL {
        let what = forgery.commit(&stage)?;
        audience(Scene::Told(&what))?;
        stage.try_proof(audience, &["show", "--no-pager", forgery.branch()])?;
        let caught = stage.is_caught(forgery.branch(), forgery.code())?;
        let forged = Forged { branch: forgery.branch(), code: forgery.code(), caught };
        audience(Scene::Judged(&forged))?;
        forgeries.push(forged);
    }
    let proven = stage.is_proven("main")?;
    let page = request.page.then(|| stage.page()).transpose()?;
    let verdict = Verdict::of(proven && forgeries.iter().all(|forged| forged.caught));
    Ok(DemoOutcome { directory: stage.directory().to_owned(), verdict, proven, forgeries, page })
}

/// The session: two ways are tried, one is taken.
fn work(stage: &Stage, audience: Audience<'_>) -> Result<()> {
    let record = |audience: Audience<'_>, kind: &str, content: &str, parent: Option<&str>| {
        let mut arguments = vec!["record", "--type", kind, "--content", content];
        arguments.extend(parent.iter().flat_map(|parent| ["--parent", parent]));
        stage.proof(audience, &arguments, false)
    };
    let intent = "People are charged twice when the network is slow: make that impossible";
    let start = ["start", "--session-id", "charge-once", "--caller", "demo-agent", "--intent", intent];
    stage.proof(audience, &start, false)?;
    record(
        audience,
        "analysis",
        "The client asks again after 5 s, and nobody knows that it is the same charge.",
        None,
    )?;
    let fork = stage.last_record()?;
    record(audience, "decision", "Ask again only after 60 s. Uncertain: that makes it rare, not impossible.", None)?;
    let chosen = "Every charge carries a key, and a key is charged once. Rejected: a longer timeout, which only makes it \
                  rare; rejected: a lock on the account, for which everyone waits. Confidence: 0.9";
    record(audience, "decision", chosen, Some(&fork))?;
    stage.write("charge.py", AFTER)?;
    stage.git(audience, &["add", "charge.py"])?;
    let end = "A test sends each charge twice and sees one. Uncertain: how long keys have to be kept.";
    record(audience, "reflection", end, None)
}

/// A failure of what the play stands on, which is no verdict.
fn failed(what: impl Into<String>) -> Error {
    Error::new(Code::RepositoryFailed, what)
        .hint(hint!("git must be on the PATH, and the directory writable: ", Step::Demo))
}
