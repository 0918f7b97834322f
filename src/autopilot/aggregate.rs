//! Puts the answers of the jobs together. Pure.

use crate::model::{Answer, PlanRecord};

/// How many of its jobs completed, what those reported, and what they named, each once.
///
/// `answers` belong to the jobs of `plan`, in order; `None` for one without a result.
pub(super) fn aggregate(plan: &PlanRecord, answers: &[Option<Answer>]) -> Answer {
    let mut reports = String::new();
    let mut all = Answer { summary: headline(plan), ..Answer::default() };
    let planned = plan.jobs.iter().zip(answers).skip(usize::from(plan.planner().is_some()));
    for (record, answer) in planned.filter_map(|(record, answer)| Some((record, answer.as_ref()?))) {
        reports.push_str(&format!("\n{}: {}", record.job.id, answer.summary.trim()));
        extend(&mut all.deliverables, &answer.deliverables);
        extend(&mut all.open_questions, &answer.open_questions);
        extend(&mut all.next_actions, &answer.next_actions);
    }
    if !reports.is_empty() {
        all.summary = format!("{}.{reports}", all.summary);
    }
    all
}

fn extend<T: Clone + PartialEq>(all: &mut Vec<T>, more: &[T]) {
    for one in more {
        if !all.contains(one) {
            all.push(one.clone());
        }
    }
}

/// What came of the plan, in one line.
pub(super) fn headline(plan: &PlanRecord) -> String {
    match &plan.decision {
        Some(decision) if !decision.should_delegate => format!("not delegated: {}", decision.reason),
        Some(_) | None => plan.summary(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autopilot::schedule::tests::plan;
    use crate::model::{Decision, Deliverable};

    #[test]
    fn what_several_jobs_name_is_told_once() {
        let answer = |summary: &str, action: &str| {
            let deliverable = Deliverable { path: "a.rs".into(), description: "the fix".into() };
            Some(Answer {
                summary: summary.into(),
                deliverables: vec![deliverable],
                open_questions: vec!["why?".into()],
                next_actions: vec![action.into()],
            })
        };
        let told = aggregate(
            &plan(&["a=ok", "b=ok", "c<b=skip"]),
            &[answer("Looked. ", "merge"), answer("Done.", "release"), None],
        );
        assert_eq!(told.summary, "2 of 3 jobs completed; `c` skipped.\na: Looked.\nb: Done.");
        assert_eq!((told.deliverables.len(), told.open_questions.len()), (1, 1));
        assert_eq!(told.next_actions, ["merge", "release"]);
    }

    #[test]
    fn a_task_that_is_not_delegated_says_why() {
        let mut plan = plan(&["a"]);
        plan.jobs.clear();
        plan.decision = Some(Decision { should_delegate: false, reason: "it is a question".into() });
        assert_eq!(aggregate(&plan, &[]).summary, "not delegated: it is a question");
    }
}
