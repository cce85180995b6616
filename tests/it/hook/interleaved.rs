//! Two agents and a person in one worktree, in random order: no commit ever gets somebody else's reasoning.

use serde_json::json;

use super::stage::Stage;
use crate::store::scratch::Dice;

/// Games that are played. Each one has its own order of events.
const GAMES: u64 = 100;
/// Moves of a game.
const MOVES: u64 = 8;

#[test]
fn no_commit_gets_the_reasoning_of_another() {
    let stage = Stage::new();
    let mut commits: Vec<(String, Option<String>)> = Vec::new();
    let mut dice = Dice(20_261_118);
    for game in 0..GAMES {
        let kinds = ["claude-code", "codex", "gemini"];
        let pick = |roll: u64| kinds[usize::try_from(roll).unwrap_or(0)];
        let agents = [
            stage.agent(pick(dice.below(3)), &format!("left-{game}")),
            stage.agent(pick(dice.below(3)), &format!("right-{game}")),
        ];
        let mut calls = [None, None];
        for step in 0..MOVES {
            let who = usize::try_from(dice.below(3)).unwrap();
            let path = format!("f{who}.txt");
            let message = format!("game {game} step {step}");
            let Some(agent) = agents.get(who) else {
                stage.write(&path, &message);
                commits.push((stage.commit(&path, &message), None));
                continue;
            };
            match (&calls[who], dice.below(2)) {
                (None, 0) => calls[who] = Some(agent.begin("make it")),
                (Some(_), 0) => {
                    agent.run(&format!("echo '{message}' >> {path} && git add {path} && git commit -qm '{message}'"));
                    commits.push((stage.head(), Some(agent.id.clone())));
                }
                (Some(call), _) => {
                    agent.end(call);
                    calls[who] = None;
                }
                (None, _) => agent.edit(&path, &format!("{message}\n")),
            }
        }
        for agent in &agents {
            agent.stop(&format!("the reasoning of {}", agent.id));
            agent.leave();
        }
    }
    assert!(stage.open().is_empty());
    let database = stage.scratch.database();
    let mut attested = database
        .prepare(
            "SELECT chain.agent_session FROM thought_records JOIN agent_chains AS chain USING (session_id) \
             WHERE type = 'attest' AND content GLOB '*' || ?1 || '*'",
        )
        .unwrap();
    let mut right = 0;
    for (commit, made_by) in &commits {
        let by: Vec<String> = attested.query_map([commit], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        let wrong: Vec<&String> = by.iter().filter(|by| Some(*by) != made_by.as_ref()).collect();
        assert_eq!(json!(wrong), json!([]), "{commit} was made by {made_by:?}");
        right += by.len();
    }
    // Those of an agent that gives no id to its shell may be nobody's.
    let by_agents = commits.iter().filter(|(_, made_by)| made_by.is_some()).count();
    assert!(right * 2 > by_agents, "{right} of {by_agents}");
}
