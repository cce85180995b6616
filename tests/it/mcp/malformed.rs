//! Lines that are no message, or not one that can be read exactly. Every request in them is answered, with its id where the line
//! shows it, and the server goes on with the next line. The official clients send the same table: `tests/mcp`.

use serde_json::{Value, json};

use super::wire::{Wire, call, plan, start};
use super::{check, ledger, repository};

/// A call of `thought_record` whose arguments are this text.
fn record(id: u64, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"thought_record","arguments":{arguments}}}}}"#
    )
}

/// A line, what answers it, and the ids of the answers.
struct Case {
    what: String,
    line: Vec<u8>,
    code: Value,
    ids: Vec<Value>,
}

/// The table that the official clients send, and what is no text.
fn cases() -> Vec<Case> {
    let table: Value = serde_json::from_str(include_str!("../../mcp/malformed.json")).unwrap();
    let part = |part: &Value| part[0].as_str().unwrap().repeat(part[1].as_u64().unwrap().try_into().unwrap());
    let mut cases: Vec<Case> = table
        .as_array()
        .unwrap()
        .iter()
        .map(|case| Case {
            what: case["what"].as_str().unwrap().to_owned(),
            line: case["line"].as_array().unwrap().iter().map(part).collect::<String>().into_bytes(),
            code: case["code"].clone(),
            ids: case["ids"].as_array().unwrap().clone(),
        })
        .collect();
    let mut more = |what: &str, line: &[u8], code: i64, id: Value| {
        cases.push(Case { what: what.to_owned(), line: line.to_vec(), code: json!(code), ids: vec![id] });
    };
    more("not UTF-8 after a request", &[record(1, "{}").as_bytes(), b"\xff"].concat(), -32700, json!(1));
    more(
        "not UTF-8 in a request",
        &[br#"{"id":2,"method":""#, &b"\xed\xa0\x80"[..], br#""}"#].concat(),
        -32700,
        json!(2),
    );
    more("not UTF-8 at all", b"\xff\xfe", -32700, Value::Null);
    more("NUL", b"\0", -32700, Value::Null);
    more(
        "an id of 64 bits",
        br#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"ping"}"#,
        -32600,
        json!(u64::MAX),
    );
    cases
}

#[test]
fn every_request_in_a_malformed_line_is_answered_and_reported() {
    let home = repository();
    let mut wire = Wire::new(home.path());
    start(&mut wire);
    let cases = cases();
    for Case { what, line, code, ids } in &cases {
        wire.write(line);
        wire.write(b"\n");
        for id in ids {
            let answer = wire.answer();
            assert_eq!((&answer["id"], &answer["jsonrpc"]), (id, &json!("2.0")), "{what}: {answer}");
            let envelope = &answer["result"]["structuredContent"];
            let error = if code.is_string() { &envelope["error"] } else { &answer["error"] };
            assert_eq!(error["code"], *code, "{what}: {answer}");
            assert_eq!(answer["result"]["isError"] == true, code.is_string(), "{what}: {answer}");
            assert!(error["message"].as_str().is_some_and(|message| message.len() < 400), "{what}: {answer}");
        }
        // The next line is heard, and nothing else was said before.
        wire.send(&json!({ "jsonrpc": "2.0", "id": what, "method": "ping" }));
        assert_eq!(wire.answer()["id"], json!(what));
    }
    wire.send(&call(99, "thought_record", &plan("still here")));
    assert_eq!(wire.answer()["result"]["structuredContent"]["ok"], true);
    let (rest, run) = wire.end();
    assert_eq!((rest.len(), run.code), (0, Some(0)));
    let reports: Vec<_> = run.stderr.lines().collect();
    // A refusal of the tool is in the ledger; the line itself was in order.
    let refused_by_the_tool = cases.iter().filter(|case| case.code.is_string()).count();
    assert_eq!(reports.len(), cases.len() - refused_by_the_tool, "{}", run.stderr);
    assert!(reports.iter().all(|line| line.starts_with("git proof mcp: line ") && line.len() < 500), "{reports:?}");
    assert_eq!(check(home.path(), "s1")["records"], 1);
    let noted = ledger(home.path());
    assert_eq!(noted.iter().filter(|(_, _, outcome)| outcome == "INVALID_PARAMS").count(), refused_by_the_tool);
}

#[test]
fn malformed_notification_or_response_is_reported_and_not_answered() {
    let home = repository();
    let mut wire = Wire::new(home.path());
    let lines = [
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"\ud800"}}"#,
        r#"{"jsonrpc":"1.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"x","method":"x"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"a":1e400}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"\ud800"}}"#,
    ];
    for line in lines {
        wire.write(format!("{line}\n").as_bytes());
    }
    wire.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" }));
    assert_eq!(wire.answer()["id"], 2);
    let run = wire.end().1;
    assert_eq!((run.code, run.stderr.lines().count()), (Some(0), lines.len()), "{}", run.stderr);
}

#[test]
fn refusal_of_arguments_says_what_cannot_be_read() {
    let home = repository();
    let mut wire = Wire::new(home.path());
    start(&mut wire);
    for (arguments, why) in [
        (r#"{"content":"a","content":"b"}"#, "the key \"content\" appears twice"),
        (r#"{"metadata":{"n":[9007199254740993]}}"#, "the number 9007199254740993 cannot be held exactly"),
    ] {
        wire.write(format!("{}\n", record(1, arguments)).as_bytes());
        let error = wire.answer()["result"]["structuredContent"]["error"].clone();
        assert!(error["message"].as_str().unwrap().contains(why), "{error}");
        assert_eq!(error["hint"], "tools/list has the input schema of thought_record");
    }
    assert_eq!(wire.end().1.stderr, "");
}

/// Most clients count their requests; some use larger numbers, and those are kept as they are.
#[test]
fn large_ids_and_a_last_line_without_a_newline_are_taken() {
    let home = repository();
    let mut wire = Wire::new(home.path());
    wire.write(b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":9223372036854775807,\"method\":\"ping\"}\r\n");
    assert_eq!(wire.answer(), json!({ "jsonrpc": "2.0", "id": i64::MAX, "result": {} }));
    wire.write(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    let (rest, run) = wire.end();
    assert_eq!((rest, run.code), (vec![json!({ "jsonrpc": "2.0", "id": 1, "result": {} })], Some(0)));
}

/// Answers of the transport and of rmcp share one output: a line is written whole before the next begins.
#[test]
fn answers_to_malformed_lines_do_not_interleave_with_others() {
    let home = repository();
    let mut wire = Wire::new(home.path());
    start(&mut wire);
    let lines: String = (1..=400_u64)
        .map(|n| match n % 2 {
            0 => record(n, r#"{"content":"\ud800"}"#) + "\n",
            _ => call(n, "thought_record", &plan(&"long ".repeat(2000))).to_string() + "\n",
        })
        .collect();
    let (seen, run) = wire.pour(&lines, 400);
    let refused = seen.iter().filter(|answer| answer["error"]["code"] == -32700).count();
    let mut ids: Vec<_> = seen.iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!((ids, refused), ((1..=400).collect(), 200));
    assert_eq!(run.code, Some(0));
    assert_eq!(run.stderr.lines().count(), 100, "a client need not read what is reported");
    assert!(run.stderr.ends_with("more such lines will not be reported\n"), "{}", run.stderr);
}

#[test]
fn line_without_an_end_takes_little_memory() {
    let home = repository();
    let mut wire = Wire::new(home.path());
    wire.write(br#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":""#);
    for _ in 0..128 {
        wire.write(&vec![b'x'; 1 << 20]);
    }
    wire.write(b"\"}}\n");
    let answer = wire.answer();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(5), &json!(-32600)));
    let status = std::fs::read_to_string(format!("/proc/{}/status", wire.server.id())).unwrap();
    let peak: u64 =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok()).unwrap();
    assert!(peak < 100 << 10, "{peak} KiB");
    assert_eq!(wire.end().1.code, Some(0));
}
