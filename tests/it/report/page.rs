//! `report`: a page and a comment about a range, with nothing in them but what may be there.

use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::PathBuf;

use git_proof::proof::digest::sha256;
use git_proof::proof::note::Signature;
use serde_json::Value;

use super::{Project, mixed};
use crate::store::scratch::Ran;

/// What a stranger may record.
const HOSTILE: &str = "</script><script>alert(1)</script> <!-- ]]> <img src=x onerror=alert(1)> javascript:x {{script}} \
                       \u{202e}gpj.exe \u{1b}[31m @octocat https://evil.example `` ` ``` | \u{2028}\u{e0041}";

impl Project {
    fn file(&self, name: &str) -> PathBuf {
        self.scratch.around().join(name)
    }

    fn report(&self, arguments: &[&str]) -> Ran {
        self.scratch.run([&["report"], arguments].concat())
    }

    /// The page of a range.
    #[track_caller]
    fn page(&self, range: &str) -> String {
        let ran = self.report(&[range, "--html", "-"]);
        assert!(matches!(ran.exit, Some(0 | 1 | 3)), "{}", ran.err);
        ran.out
    }

    /// A commit whose session has these decisions.
    fn decided(&self, session: &str, decisions: &[&str]) {
        self.write(session, "x\n");
        self.scratch.start(session, &[]);
        for decision in decisions {
            self.scratch.record("decision", decision);
        }
        self.scratch.record("reflection", "done");
        self.scratch.json(&["finalize"]);
        self.git(&["commit", "--quiet", "-m", "a change"]);
        self.scratch.json(&["anchor", "--session", session]);
    }
}

/// What stands between two texts.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let start = text.find(from).unwrap_or_else(|| panic!("{from} in {text}")) + from.len();
    &text[start..start + text[start..].find(to).unwrap()]
}

fn data(page: &str) -> Value {
    serde_json::from_str(between(page, "<script type=\"application/json\" id=\"data\">", "</script>")).unwrap()
}

#[test]
fn a_page_tells_the_verdict_the_decisions_and_the_files() {
    let project = Project::new();
    project.decided("s1", &["A map.\nRejected: a list, which is slow."]);
    let page = project.page("HEAD");
    for part in [
        "<b id=\"verdict\">Proven</b>. <span id=\"counts\">1 of 1 proven</span>.",
        "<details class=\"commit pass\"",
        "<span class=\"rejected\">Rejected: a list, which is slow.</span>",
        "<code>s1</code><i> added</i>",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let root = project.scratch.json(&["root", "--session", "s1"])["root"].as_str().unwrap().to_owned();
    let evidence = project.git(&["cat-file", "blob", &format!("refs/proof/evidence:{}/{root}.jsonl", &root[..2])]);
    let lines: Vec<&str> = evidence.lines().collect();
    assert_eq!(data(&page)["sessions"][0]["lines"], serde_json::json!(lines));
}

/// Whether anything adds up is for the script to say. Until it has, the page claims nothing.
#[test]
fn a_page_that_has_not_run_its_script_says_that_nothing_was_checked() {
    let project = Project::new();
    project.decided("s1", &["A map."]);
    let page = project.page("HEAD");
    let top = between(&page, "<header", "</header>");
    assert!(top.contains("</span> Not checked yet</h1>") && top.contains("Nothing was checked yet"), "{top}");
    assert!(top.contains("A page cannot vouch for itself; run <code>git proof verify "), "{top}");
    assert_eq!(between(&page, "<title>", "</title>"), "git proof report: HEAD");
    assert!(!between(&page, "<body>", "<main>").contains('✔'), "{top}");
}

#[test]
fn the_policy_of_a_page_names_the_hashes_of_its_script_and_style() {
    let page = Project::new().page("HEAD");
    let policy = between(&page, "http-equiv=\"Content-Security-Policy\" content=\"", "\"");
    let source = |text: &str| format!("'sha256-{}'", Signature(sha256(text.as_bytes()).to_vec()).to_base64());
    let (style, script) = (between(&page, "<style>", "</style>"), between(&page, "<script>", "</script>"));
    for directive in [
        "default-src 'none'".to_owned(),
        format!("script-src {}", source(script)),
        format!("style-src {}", source(style)),
        "base-uri 'none'".to_owned(),
        "form-action 'none'".to_owned(),
    ] {
        assert!(policy.split("; ").any(|found| found == directive), "{directive} in {policy}");
    }
    assert!(!policy.contains("unsafe"));
    assert!(page.find("Content-Security-Policy").unwrap() < page.find("<style>").unwrap());
    for forbidden in [" style=\"", " onclick=", " onload=", "src=", "href=\"http", "url(", "@import"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn hostile_text_is_text_in_a_page() {
    let project = Project::new();
    project.write("<b>&\u{202e}", "x\n");
    project.decided("s1", &[HOSTILE]);
    project.raw(HOSTILE.as_bytes());
    let page = project.page("HEAD~2..HEAD");
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script").count(), 2);
    assert!(!page.contains("<img") && !page.contains("<!--") && !page.contains("<b>&"));
    assert!(page.contains("⟨U+202E⟩gpj.exe ⟨U+001B⟩[31m"));
    let active: Vec<char> = page
        .chars()
        .filter(|character| character.is_control() && *character != '\n')
        .chain(page.chars().filter(|character| matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{e0000}'..='\u{e007f}')))
        .collect();
    assert!(active.is_empty(), "{active:?}");
    let line: Value = serde_json::from_str(data(&page)["sessions"][0]["lines"][1].as_str().unwrap()).unwrap();
    assert_eq!(line["content"], HOSTILE);
}

#[test]
fn what_is_withheld_is_in_no_report() {
    let project = Project::new();
    project.write("a", "x\n");
    project.scratch.start("s1", &[]);
    project.scratch.json(&["record", "--type", "decision", "--content", "a secret of the house", "--private"]);
    project.scratch.record("reflection", "done");
    project.scratch.json(&["finalize"]);
    project.git(&["commit", "--quiet", "-m", "a change"]);
    project.scratch.json(&["anchor", "--session", "s1"]);
    let page = project.page("HEAD");
    assert!(page.contains("1 withheld") && !page.contains("secret of the house"));
    assert!(!project.report(&["HEAD"]).out.contains("secret of the house"));
}

#[test]
fn the_exit_code_is_that_of_verify_and_the_file_is_written_all_the_same() {
    let project = mixed();
    let file = project.file("page.html");
    let name = file.to_str().unwrap();
    let ran = project.report(&["main..topic", "--html", name]);
    assert_eq!(ran.exit, Some(1), "{}", ran.err);
    assert!(ran.out.is_empty() && ran.err.contains("wrote "), "{ran:?}");

    let proven = project.git(&["rev-parse", "HEAD~2"]);
    project.git(&["notes", "--ref=proof", "copy", &proven, "HEAD"]);
    let ran = project.report(&["main..topic", "--html", name]);
    assert_eq!(ran.exit, Some(1), "{}", ran.err);
    assert!(std::fs::read_to_string(&file).unwrap().contains("BINDING_MISMATCH"));

    project.git(&["update-ref", "-d", "refs/proof/evidence"]);
    let ran = project.report(&[&proven, "--html", name]);
    assert_eq!(ran.exit, Some(3), "{}", ran.err);
    let page = std::fs::read_to_string(&file).unwrap();
    assert!(page.contains("Could not check") && page.contains("refs/proof/evidence is not in this clone"));
}

#[test]
fn programs_learn_what_was_written() {
    let project = Project::new();
    project.proven("s1", "a");
    let file = project.file("page.html");
    let ran = project.scratch.run(["--json", "report", "HEAD", "--markdown", "--html", file.to_str().unwrap()]).json();
    assert_eq!((&ran["verdict"], &ran["sessions"]), (&"pass".into(), &1.into()));
    assert_eq!(ran["commits"][0]["verdict"], "pass");
    assert_eq!(ran["html"]["file"], file.to_str().unwrap());
    assert_eq!(ran["html"]["bytes"], std::fs::metadata(&file).unwrap().len());
    assert!(
        ran["markdown"]["text"]
            .as_str()
            .unwrap()
            .starts_with("<!-- git-proof report -->\n### git proof: 1 of 1 proven\n")
    );
}

#[test]
fn a_range_that_is_none_leaves_the_old_file_as_it_was() {
    let project = Project::new();
    let file = project.file("page.html");
    std::fs::write(&file, "old").unwrap();
    let ran = project.scratch.run(["--json", "report", "nowhere..HEAD", "--html", file.to_str().unwrap()]);
    ran.error("ERR_COMMIT_NOT_FOUND", 2);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "old");
}

#[test]
fn a_file_is_replaced_as_a_whole() {
    let project = Project::new();
    let folder = project.file("out");
    std::fs::create_dir(&folder).unwrap();
    let (real, link) = (folder.join("real.html"), folder.join("link.html"));
    std::fs::write(&real, "old").unwrap();
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("real.html", &link).unwrap();
    // Whoever has the old file open goes on reading the old one.
    let mut reader = std::fs::File::open(&real).unwrap();
    assert_eq!(project.report(&["--html", link.to_str().unwrap()]).exit, Some(0));
    let mut old = String::new();
    std::io::Read::read_to_string(&mut reader, &mut old).unwrap();
    assert_eq!(old, "old");
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(std::fs::read_to_string(&real).unwrap().ends_with("</html>\n"));
    assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2, "nothing is left beside it");
}

#[test]
fn a_pipe_is_written_to_and_not_replaced() {
    let project = Project::new();
    let pipe = project.file("pipe");
    assert!(project.scratch.command("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    assert_eq!(project.report(&["--html", pipe.to_str().unwrap()]).exit, Some(0));
    assert!(reader.join().unwrap().ends_with("</html>\n"));
    assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo());
}

#[test]
fn places_where_nothing_can_be_written_are_refused() {
    let project = Project::new();
    let around = project.scratch.around().to_str().unwrap().to_owned();
    let refused = |arguments: &[&str], code: &str, exit: i32| {
        project.scratch.run([&["--json", "report"], arguments].concat()).error(code, exit);
    };
    refused(&["--html", &around], "INVALID_PARAMS", 2);
    refused(&["--html", &format!("{around}/no/such/page.html")], "INVALID_PARAMS", 2);
    refused(&["--html", "-", "--markdown"], "INVALID_PARAMS", 2);
    // The range, where a file is asked for.
    refused(&["--markdown", "HEAD~0..HEAD"], "INVALID_PARAMS", 2);
    refused(&["--html", "main"], "INVALID_PARAMS", 2);
    assert!(!project.scratch.place.join("main").exists());
}

#[test]
fn a_comment_brings_out_what_was_rejected() {
    let project = Project::new();
    project.decided("s1", &["A map.\nRejected: a list, which is slow.\nSo be it."]);
    let text = project.report(&["HEAD"]).text().to_owned();
    assert!(text.contains("   - decided: `A map. So be it.`<br>rejected: `a list, which is slow.`\n"), "{text}");
    assert!(text.contains("   - reflection: `done`\n"), "{text}");
    assert_eq!(project.report(&["HEAD", "--markdown"]).out, text);
    assert!(!text.contains("Left out"));
}

#[test]
fn a_comment_keeps_to_its_limit_and_says_what_is_left_out() {
    let project = Project::new();
    let long = "`|𝕏 word ".repeat(200);
    project.decided("s1", &vec![long.as_str(); 40]);
    let text = project.report(&["HEAD"]).text().to_owned();
    assert!(text.len() <= 60_000, "{}", text.len());
    let shown = text.matches("decided: `").count();
    let last = text.lines().last().unwrap();
    let (left, cut) = (40 - shown, shown * (long.trim_end().chars().count() - 400));
    let said = format!("Left out here: {left} decisions and open questions, {cut} characters of long texts. ");
    assert!(last.starts_with(&said), "{said} {last}");
    assert!(
        last.contains(&format!("`git proof report {:.12} --html report.html` shows all", project.head())),
        "{last}"
    );
}

#[test]
fn a_comment_on_twenty_commits_of_six_sessions_has_at_most_sixty_lines() {
    let project = Project::new();
    let mut files = 0;
    for session in 0..6 {
        project.scratch.start(&format!("s{session}"), &[]);
        project
            .scratch
            .record("decision", "A map.\nRejected: a list, which is slow.\nRejected: a tree.\nBecause it is fast.");
        project.scratch.record("decision", "Keep it in memory.\nRejected: a file.");
        let commits = if session < 2 { 4 } else { 3 };
        let commits: Vec<String> = (0..commits)
            .map(|_| {
                files += 1;
                project.commit(&format!("f{files}"), "x\n", &format!("change {files}\n\nAssisted-by: an agent"))
            })
            .collect();
        let commits: Vec<&str> = commits.iter().map(String::as_str).collect();
        project.scratch.json(&[&["cover"], commits.as_slice()].concat());
        project
            .scratch
            .json(&["done", "All of it works.\nUncertain: what happens at night.\nUncertain: leap seconds."]);
    }
    project.unproven("x");
    project.unproven("y");
    let text = project.report(&["HEAD~22..HEAD"]).out;
    assert!(text.lines().count() <= 60, "{} lines: {text}", text.lines().count());
    assert!(text.contains("### git proof: 20 of 22 proven · 2 missing · 12 open questions\n"), "{text}");
    let first = text.find("session `s0`").unwrap();
    assert!(text.find("- **missing**").unwrap() < first && first < text.find("session `s5`").unwrap(), "{text}");
    assert!(text.find("session `s5`").unwrap() < text.find("<details>").unwrap());
}

#[test]
fn words_of_strangers_stay_inside_of_code_in_a_comment() {
    let project = Project::new();
    project.decided("s1", &[HOSTILE, "```\n````\n~~~\n# title"]);
    project.raw(&[HOSTILE.as_bytes(), b"\n\nAssisted-by: x\nProof-Root: x\n"].concat());
    let text = project.report(&["HEAD~2..HEAD"]).out;
    let outside: String = text.lines().map(|line| super::hostile::without_code(line) + "\n").collect();
    for word in ["evil", "octocat", "script>", "<img", "title", "\u{1b}", "\u{202e}"] {
        assert!(!outside.contains(word), "{word} in {outside}");
    }
}

#[test]
fn rounds_are_drawn_where_there_are_any() {
    let project = Project::new();
    project.proven("s1", "a");
    assert!(project.page("HEAD").contains("This clone has no <code>refs/proof/rounds</code>"));
    project.scratch.json(&["seal"]);
    project.proven("s2", "b");
    project.scratch.json(&["seal"]);
    let page = project.page("HEAD");
    assert!(
        page.contains("<g class=\"round\" data-round=\"1\">")
            && page.contains("<g class=\"round ours\" data-round=\"2\">")
    );
    assert_eq!(data(&page)["seals"].as_array().unwrap().len(), 2);
    assert_eq!(data(&page)["commits"][0]["sessions"][0]["round"], 2);
}

#[test]
fn a_chain_of_rounds_that_does_not_hold_is_said_not_to() {
    let project = Project::new();
    project.proven("s1", "a");
    project.scratch.json(&["seal"]);
    project.git(&["update-ref", "refs/proof/rounds", "HEAD"]);
    let ran = project.report(&["HEAD", "--html", "-"]);
    assert_eq!(ran.exit, Some(1), "{}", ran.err);
    assert!(ran.out.contains("<b>The chain does not hold.</b> refs/proof/rounds: "));
    assert!(ran.out.contains("SEAL_BROKEN"));
}

#[test]
fn evidence_that_was_forged_is_in_the_page_for_the_reader_to_see() {
    let project = Project::new();
    project.proven("s1", "a");
    let root = project.scratch.json(&["root", "--session", "s1"])["root"].as_str().unwrap().to_owned();
    let path = format!("{}/{root}.jsonl", &root[..2]);
    let forged =
        project.git(&["cat-file", "blob", &format!("refs/proof/evidence:{path}")]).replace("otherwise", "likewise")
            + "\n";
    project.write("forged", &forged);
    let blob = project.git(&["hash-object", "-w", "forged"]);
    let inner = project.tree(&format!("100644 blob {blob}\t{root}.jsonl\n"));
    let tree = project.tree(&format!("040000 tree {inner}\t{}\n", &root[..2]));
    let commit = project.git(&["commit-tree", "-m", "forged", &tree]);
    project.git(&["update-ref", "refs/proof/evidence", &commit]);
    let ran = project.report(&["HEAD", "--html", "-"]);
    assert_eq!(ran.exit, Some(1), "{}", ran.err);
    assert!(ran.out.contains("its anchor does not hold") && ran.out.contains("so and not likewise"));
    assert_eq!(data(&ran.out)["commits"][0]["sessions"][0]["holds"], false);
}

impl Project {
    /// A tree with these entries.
    fn tree(&self, entries: &str) -> String {
        let mut command = self.command(&["mktree"]);
        crate::common::run_with_input(&mut command, entries.as_bytes()).stdout.trim_end().to_owned()
    }
}

/// Decisions that are hard to read: every mark, with and without a colon, over lines, in lists, in other alphabets, and what
/// only looks like a mark.
const MARKED: [&str; 14] = [
    "A map. Rejected a list because it is slow.",
    "A map; rejected: a list; why: it is slow",
    "A.\nRejected:\n- b: slow\n* c\n\nThen d.",
    "A.\nRejected: b, which is long\nand goes on here.\nSo be it.",
    "\u{1f600}\u{1f600} ö. Ruled out: \u{1f9d1}\u{200d}\u{1f680} and ü\r\nDismissed the rest.\r\n",
    "- chosen: a\n- **Rejected:** b\n- not chosen: c",
    "rejected by the server, and std::rejected::x",
    "Alternatives considered: a, b. Discarded b! Discarded: c? Yes.",
    "Rejected:",
    "Rejected:\n\n\nb",
    "> Rejected: <b onclick=alert(1)>bold</b>",
    "Considered and rejected: x; options rejected: y; alternatives: z",
    "  rejected: set in\n    and further in\nand out again",
    ".. ; Rejected:; rejected: x ;",
];

#[test]
fn page_and_terminal_find_the_same_rejections() {
    let project = Project::new();
    project.decided("s1", &MARKED);
    let shown = project.scratch.json(&["show"]);
    let page = data(&project.page("HEAD"))["sessions"][0].clone();
    let mut all = 0;
    for (at, decision) in MARKED.iter().enumerate() {
        let step = &shown["trails"][0]["steps"][at];
        assert_eq!(step["content"], *decision);
        let points = step["points"].as_array().unwrap().iter().filter(|point| point["label"] == "rejected");
        let terminal: Vec<&str> = points.map(|point| point["text"].as_str().unwrap()).collect();
        let units: Vec<u16> = decision.encode_utf16().collect();
        let mut places = page["marked"][(at + 1).to_string()].as_array().cloned().unwrap_or_default();
        places.retain(|place| place[2] == "rejected");
        let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
        let script: Vec<String> = places
            .iter()
            .map(|place| String::from_utf16(&units[number(&place[0])..number(&place[1])]).unwrap())
            .collect();
        assert_eq!(script.len(), terminal.len(), "{decision:?}: {script:?} {terminal:?}");
        for (said, point) in script.iter().zip(&terminal) {
            let squeezed = |text: &str| {
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                text.trim_end_matches([';', ' ']).to_owned()
            };
            let (said, point) = (squeezed(said), squeezed(point));
            assert!(said.ends_with(&point), "{said:?} {point:?}");
        }
        all += terminal.len();
    }
    assert_eq!(all, 16, "{}", shown["trails"][0]["steps"]);
}

#[test]
fn a_picture_shows_what_was_decided_and_nothing_in_it_does_anything() {
    let project = Project::new();
    project.decided("s1", &["Keep the journal; rejected: a log", HOSTILE]);
    let ran = project.report(&["HEAD", "--svg", "-"]);
    assert_eq!((ran.exit, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let picture = &ran.out;
    assert!(picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" ") && picture.ends_with("</svg>\n"));
    for told in [">Keep the journal<", ">rejected<", ">a log<", ">&lt;/script&gt;&lt;script&gt;alert(1)"] {
        assert!(picture.contains(told), "{told}: {picture}");
    }
    let width = picture.split('"').nth(3).unwrap().parse::<u32>().unwrap();
    assert!(width <= 720, "a line was not wrapped: {width}");
    for element in picture.split('<').skip(1) {
        let name = element.trim_start_matches('/').split([' ', '>', '/']).next().unwrap();
        assert!(["svg", "title", "style", "rect", "text"].contains(&name), "{name}");
    }
    assert!(picture.chars().all(|letter| letter == '\n' || !letter.is_control() && letter != '\u{202e}'), "{picture}");
    assert_eq!(picture.matches("<text").count(), picture.matches("</text>").count());
}

#[test]
fn a_picture_has_the_same_colours_wherever_it_is_written_and_the_comment_stays_away() {
    let project = Project::new();
    project.decided("s1", &["Keep the journal"]);
    let file = project.file("why.svg");
    let ran = project.report(&["--svg", file.to_str().unwrap()]);
    assert_eq!((ran.exit, ran.out.as_str()), (Some(0), ""), "{ran:?}");
    assert!(ran.err.contains("why.svg"), "{}", ran.err);
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written.contains("class=\"r2\""), "{written}");
    assert_eq!(project.report(&["--svg", "-"]).out, written);
    let both = project.report(&["--svg", "-", "--html", "-"]);
    assert_eq!(both.exit, Some(2), "{both:?}");
}
