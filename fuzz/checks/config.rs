//! The files of agents in a worktree, which `init` edits in place.

use git_proof::ops::InitAgent;

/// The first byte chooses the file, the rest is what is in it.
pub fn config(data: &[u8]) {
    let Some((file, text)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let files: Vec<_> =
        InitAgent::ALL.into_iter().flat_map(|agent| agent.files().into_iter().map(move |path| (agent, path))).collect();
    let (agent, path) = files[usize::from(*file) % files.len()];
    let put_in = |text: &str| agent.edit(path, Some(text), false);
    let take_out = |text: &str| agent.edit(path, Some(text), true);

    let Ok(with) = put_in(text) else { return };
    let with = with.expect("what is put in is there");
    assert_eq!(put_in(&with).ok().flatten().as_ref(), Some(&with), "a second time changes nothing: {text:?}");
    let without = take_out(&with).unwrap_or_else(|error| panic!("what was put in can be taken out: {error} {with:?}"));
    // Where there was nothing of ours before, what others wrote is back, byte for byte.
    if take_out(text).is_ok_and(|before| before.as_deref() == Some(text)) && !text.trim_start_matches('\u{feff}').trim().is_empty() {
        assert_eq!(without.as_deref(), Some(text), "by way of {with:?}");
    }
    if let Some(without) = &without {
        assert_eq!(take_out(without).ok(), Some(Some(without.clone())), "nothing of ours is left: {with:?}");
    }
}
