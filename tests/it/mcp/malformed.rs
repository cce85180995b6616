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

/// A line, the code that answers it, and the ids of the answers.
type Case = (Vec<u8>, i64, Value);

fn cases() -> Vec<Case> {
    let text = |line: &str, code: i64, ids: Value| (line.as_bytes().to_vec(), code, ids);
    let deep =
        |depth: usize| format!(r#"{{"metadata":{}{}}}"#, r#"{"a":"#.repeat(depth), "1".to_owned() + &"}".repeat(depth));
    let many = format!(r#"{{"metadata":{{"a":[{}0]}}}}"#, "0,".repeat(60_000));
    let long = format!(r#"{{"content":"{}"}}"#, "x".repeat(17 << 20));
    let id_last = format!(
        r#"{{"jsonrpc":"2.0","method":"tools/call","params":{{"x":"{}"}},"id":"last"}}"#,
        "\\\"".repeat(9 << 20)
    );
    vec![
        text(&record(1, r#"{"content":"\ud83d"}"#), -32700, json!([1])),
        text(&record(2, r#"{"content":"\ude00 alone"}"#), -32700, json!([2])),
        text(&record(3, r#"{"metadata":{"n":1e400}}"#), -32700, json!([3])),
        text(&record(4, &deep(200)), -32700, json!([4])),
        text(&record(5, &deep(100_000)), -32600, json!([5])), // has too many values
        text(&record(6, &many), -32600, json!([6])),
        text(&record(7, &long), -32600, json!([7])),
        text(&id_last, -32600, json!(["last"])),
        text(&[record(8, "{}"), record(9, "{}")].concat(), -32700, json!([8, 9])),
        text(&(record(10, "{}") + " junk"), -32700, json!([10])),
        text("plain junk", -32700, json!([null])),
        text("\"a text\"", -32600, json!([null])),
        text("17", -32600, json!([null])),
        text("{}", -32600, json!([null])),
        text("[]", -32600, json!([null])),
        text(&format!("[{},{}]", record(11, "{}"), record(12, "{}")), -32600, json!([11, 12])),
        text(r#"{"jsonrpc":"1.0","id":13,"method":"ping"}"#, -32600, json!([13])),
        text(r#"{"id":14,"method":"ping"}"#, -32600, json!([14])),
        text(r#"{"jsonrpc":"2.0","id":15}"#, -32600, json!([15])),
        text(r#"{"jsonrpc":"2.0","id":16,"method":5}"#, -32600, json!([16])),
        text(r#"{"jsonrpc":"2.0","id":17.5,"method":"ping"}"#, -32600, json!([17.5])),
        text(r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"ping"}"#, -32600, json!([u64::MAX])),
        text(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, json!([null])),
        text(r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, -32600, json!([null])),
        text(r#"{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}"#, -32600, json!([null])),
        text(r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, -32600, json!([null])),
        text(r#"{"jsonrpc":"2.0","id":"\ud800","method":"ping"}"#, -32700, json!([null])),
        text(r#"{"jsonrpc":"2.0","id":18,"method":"ping","method":"ping"}"#, -32600, json!([18])),
        text(
            r#"{"jsonrpc":"2.0","id":19,"method":"tools/call","params":{"name":"x","name":"y"}}"#,
            -32600,
            json!([19]),
        ),
        text(
            r#"{"jsonrpc":"2.0","id":20,"method":"tools/call","params":{"arguments":{},"\u0061rguments":{}}}"#,
            -32600,
            json!([20]),
        ),
        text(
            r#"{"jsonrpc":"2.0","id":21,"method":"prompts/get","params":{"arguments":{"a":"b","a":"c"}}}"#,
            -32600,
            json!([21]),
        ),
        text(r#"{"jsonrpc":"2.0","id":22,"method":"tools/call","params":{"name":"#, -32700, json!([22])),
        text(r#"{"jsonrpc":"2.0","method":"cut off before its id","params":{"#, -32700, json!([null])),
        ([record(23, "{}").as_bytes(), b"\xff"].concat(), -32700, json!([23])),
        (b"\xff\xfe".to_vec(), -32700, json!([null])),
        (b"\0".to_vec(), -32700, json!([null])),
    ]
}

#[test]
fn every_request_in_a_malformed_line_is_answered_and_reported() {
    let home = repository();
    let mut wire = Wire::new(home.path());
    start(&mut wire);
    let cases = cases();
    for (number, (line, code, ids)) in cases.iter().enumerate() {
        let shown = String::from_utf8_lossy(&line[..line.len().min(150)]).into_owned();
        wire.write(line);
        wire.write(b"\n");
        for id in ids.as_array().unwrap() {
            let answer = wire.answer();
            assert_eq!((&answer["id"], &answer["error"]["code"]), (id, &json!(code)), "{shown}: {answer}");
            let keys: Vec<_> = answer.as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!((&answer["jsonrpc"], keys), (&json!("2.0"), vec!["error", "id", "jsonrpc"]));
            assert!(answer["error"]["message"].as_str().is_some_and(|message| message.len() < 400), "{answer}");
        }
        // The next line is heard, and nothing else was said before.
        wire.send(&json!({ "jsonrpc": "2.0", "id": format!("after {number}"), "method": "ping" }));
        assert_eq!(wire.answer()["id"], format!("after {number}"), "{shown}");
    }
    wire.send(&call(99, "thought_record", &plan("still here")));
    assert_eq!(wire.answer()["result"]["structuredContent"]["ok"], true);
    let (rest, run) = wire.end();
    assert_eq!((rest.len(), run.code), (0, Some(0)));
    let reports: Vec<_> = run.stderr.lines().collect();
    assert_eq!(reports.len(), cases.len(), "{}", run.stderr);
    assert!(reports.iter().all(|line| line.starts_with("git proof mcp: line ") && line.len() < 500), "{reports:?}");
    assert_eq!(check(home.path(), "s1")["records"], 1);
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
fn arguments_that_cannot_be_read_exactly_are_refused_by_the_tool_and_are_in_the_ledger() {
    let home = repository();
    let mut wire = Wire::new(home.path());
    start(&mut wire);
    let deep = format!(r#"{{"a":{}1{}}}"#, "[".repeat(90), "]".repeat(90));
    let cases = [
        (r#"{"session_id":"s1","type":"plan","content":"a","content":"b"}"#, "\"content\" appears twice"),
        (r#"{"session_id":"s1","type":"plan","content":"a","metadata":{"x":[{"k":1,"k":1}]}}"#, "\"k\" appears twice"),
        (r#"{"session_id":"s1","type":"plan","content":"a","\u0063ontent":"b"}"#, "\"content\" appears twice"),
        (r#"{"session_id":"s1","type":"plan","content":"a","metadata":{"n":9007199254740993}}"#, "9007199254740993"),
        (
            r#"{"session_id":"s1","type":"plan","content":"a","metadata":{"n":1000000000000000000001}}"#,
            "1000000000000000000001",
        ),
        (deep.as_str(), "nested more than 64 deep"),
    ];
    for (at, (arguments, why)) in cases.iter().enumerate() {
        let id = at as u64 + 1;
        wire.write(format!("{}\n", record(id, arguments)).as_bytes());
        let answer = wire.answer();
        let (result, envelope) = (&answer["result"], &answer["result"]["structuredContent"]);
        assert_eq!((&answer["id"], &result["isError"], &envelope["ok"]), (&json!(id), &json!(true), &json!(false)));
        assert_eq!(envelope["error"]["code"], "INVALID_PARAMS", "{answer}");
        let message = envelope["error"]["message"].as_str().unwrap();
        assert!(message.contains(why), "{message:?} does not say {why:?}");
        assert_eq!(envelope["error"]["hint"], "tools/list has the input schema of thought_record");
        assert_eq!(ledger(home.path()).last().unwrap().2, "INVALID_PARAMS");
    }
    // A name of a member that is spelled in another way is the same name, and so is a method.
    let line = r#"{"jsonrpc":"2.0","id":7,"method":"tools\/call","params":{"name":"merkle_audit","\u0061rguments":{"session_id":"s1","session_id":"s1"}}}"#;
    wire.write(format!("{line}\n").as_bytes());
    assert_eq!(wire.answer()["result"]["structuredContent"]["error"]["code"], "INVALID_PARAMS");
    let (_, run) = wire.end();
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "a refusal of the tool is no malformed line");
    assert_eq!(check(home.path(), "s1")["records"], 0);
    assert_eq!(ledger(home.path()).len(), 1 + cases.len() + 1);
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
        wire.write(&[b'x'; 1 << 20]);
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
