//! A long queue takes no room from what matters more, and what is left out of it is left out of text and structure alike.

use serde_json::{Value, json};

use crate::agreement::Reply;
use crate::client::{Client, Era};
use crate::support::env::TestEnv;

fn listed(data: &Value, list: &str) -> Vec<String> {
    let tasks = data[list].as_array().map(Vec::as_slice).unwrap_or_default();
    tasks.iter().map(|one| one["task_id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_long_queue_is_cut_the_same_twice_and_hides_nothing_else() {
    let env = TestEnv::new();
    env.configure("max_concurrent = 1\n");
    let mut client = Client::new(&env, Era::Session);
    let unread = [(); 2].map(|()| {
        let task = client.replay("quick --instant");
        env.await_final(&task);
        task
    });
    let go = env.side().join("go");
    let goes_on = format!("while ! [ -e {} ]; do sleep 0.02; done # {}", go.display(), "x".repeat(80));
    (0..71).for_each(|_| drop(env.submit(&goes_on)));
    for (ask, shown) in [(json!({}), 5..70), (json!({ "limit": 50 }), 70..71)] {
        let reply = Reply::to(&mut client, "delegate_status", ask).has(&[
            "status: 1 running, 70 queued, 2 recently finished\n",
            "notice: 2 finished runs unread: ",
            "next: delegate_wait ",
        ]);
        let (text, data) = (&reply.text, &reply.content["data"]);
        let [running, queued, finished] =
            ["tasks", "queue", "recently_completed"].map(|list| listed(data, list));
        assert!(running.len() == 1 && finished.len() == 2, "{data:#}");
        assert!(shown.contains(&queued.len()), "{} of the queue", queued.len());
        let left_out = 70 - queued.len();
        assert_eq!(text.contains(&format!("\n... (+{left_out} more)\n")), left_out > 0, "{text}");
        assert_eq!(text.matches(" at position ").count(), queued.len(), "{text}");
        for task in running.iter().chain(&queued).chain(&finished).chain(&unread) {
            assert!(text.contains(task.as_str()), "{task}: {text}");
        }
        let meta = &reply.content["meta"];
        assert_eq!(meta["total"], 73);
        assert_eq!(meta["left_out"].as_u64().unwrap_or_default(), left_out as u64);
        let positions =
            data["queue"].as_array().unwrap().iter().map(|task| task["position"].as_u64().unwrap());
        assert!(positions.eq(1..=queued.len() as u64), "{data:#}");
        let notice = reply.content["meta"]["notice"].as_str().unwrap();
        assert!(!notice.contains("shortened"), "{notice}");
        reply.no_line_can_be_missed();
    }
    // Who reads all of it at a shell, gets all of it.
    let status = env.json(&["status", "--json"]);
    assert_eq!((listed(&status["data"], "queue").len(), &status["meta"]["total"]), (70, &json!(73)));
}
