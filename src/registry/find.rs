//! Finds a task by any of its names.

use rusqlite::params;

use crate::model::{RunId, TaskId, ThreadId};
use crate::registry::tasks::select;
use crate::registry::{Registry, RegistryError, Row};

/// A reference to a task as a user or a model wrote it.
#[derive(Debug, Clone)]
pub(crate) struct TaskReference(pub(crate) String);

/// Where guessable names are searched. A full id is found everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SearchScope {
    Everywhere,
    Project,
}

#[derive(Debug)]
pub(crate) enum TaskMatch {
    One(Box<Row>),
    None,
    /// Several tasks match, newest first.
    Several(Vec<Row>),
}

impl Registry {
    /// Finds a task by task id, run id, thread id, alias, or a unique prefix of a task or run id.
    /// If several tasks use a thread, or an alias in `project`, the newest wins. An alias of
    /// another project must be in scope and unique.
    pub(crate) fn find(
        &self,
        reference: &TaskReference,
        project: &str,
        scope: SearchScope,
    ) -> Result<TaskMatch, RegistryError> {
        let text = reference.0.trim();
        let newest = |column: &str, value: &str| {
            let rest = format!("WHERE {column} = ?1 ORDER BY seq DESC LIMIT 1");
            select(&self.connection, &rest, [value]).map(|mut rows| rows.pop())
        };
        let exact = if let Ok(id) = text.parse::<TaskId>() {
            newest("id", id.as_str())?
        } else if let Ok(run) = text.parse::<RunId>() {
            newest("run_id", run.as_str())?
        } else if let Ok(thread) = text.parse::<ThreadId>() {
            newest("thread_id", thread.as_str())?
        } else {
            let rest = "WHERE alias = ?1 AND project = ?2 ORDER BY seq DESC LIMIT 1";
            match select(&self.connection, rest, [text, project])?.pop() {
                Some(row) => Some(row),
                None if scope == SearchScope::Project => None,
                None => {
                    let mut rows =
                        select(&self.connection, "WHERE alias = ?1 ORDER BY seq DESC LIMIT 6", [text])?;
                    match rows.len() {
                        0 | 1 => rows.pop(),
                        _ => return Ok(TaskMatch::Several(rows)),
                    }
                }
            }
        };
        match exact {
            Some(row) => Ok(TaskMatch::One(Box::new(row))),
            None => self.find_by_beginning(text, project, scope),
        }
    }

    fn find_by_beginning(
        &self,
        text: &str,
        project: &str,
        scope: SearchScope,
    ) -> Result<TaskMatch, RegistryError> {
        let lower = text.to_ascii_lowercase();
        // `T` and `T-local-` are prefixes of every id of their kind; a tail alone may be of any kind.
        let kind =
            ["T-local-", "T-cloud-"].into_iter().find(|kind| lower.starts_with(&kind.to_ascii_lowercase()));
        let tail = kind.map_or(lower.as_str(), |kind| &lower[kind.len()..]);
        let of_all = ["t-local-", "t-cloud-"].iter().any(|kind| kind.starts_with(&lower));
        let tail = if of_all { "" } else { tail };
        let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        if lower.is_empty() || !tail.bytes().all(plain) {
            return Ok(TaskMatch::None);
        }
        // Ranges instead of LIKE, so that the unique indexes are used.
        let mut rows = select(
            &self.connection,
            "WHERE ((id >= ?1 AND id < ?2) OR (id >= ?7 AND id < ?8) OR (run_id >= ?3 AND run_id < ?4)) AND (?5 OR project = ?6)
             ORDER BY seq DESC LIMIT 6",
            params![
                format!("{}{tail}", kind.unwrap_or("T-local-")),
                format!("{}{tail}~", kind.unwrap_or("T-local-")),
                lower,
                format!("{lower}~"),
                scope == SearchScope::Everywhere,
                project,
                format!("{}{tail}", kind.unwrap_or("T-cloud-")),
                format!("{}{tail}~", kind.unwrap_or("T-cloud-")),
            ],
        )?;
        Ok(match rows.len() {
            0 => TaskMatch::None,
            1 => TaskMatch::One(Box::new(rows.remove(0))),
            _ => TaskMatch::Several(rows),
        })
    }

    /// The ids and aliases in `project` that start with `beginning`, ignoring case, newest tasks
    /// first, and their total number.
    pub(crate) fn names(
        &self,
        project: &str,
        beginning: &str,
        most: u32,
    ) -> Result<(Vec<String>, u32), RegistryError> {
        let named = "FROM (SELECT id AS name, seq, 0 AS rank FROM tasks WHERE project = ?1 UNION ALL
                           SELECT alias, seq, 1 FROM tasks WHERE project = ?1 AND alias IS NOT NULL)
                     WHERE substr(lower(name), 1, length(?2)) = ?2";
        let beginning = beginning.to_ascii_lowercase();
        let mut count = self.connection.prepare_cached(&format!("SELECT count(DISTINCT name) {named}"))?;
        let count = count.query_row([project, &beginning], |row| row.get(0))?;
        let newest = format!("SELECT name {named} GROUP BY name ORDER BY max(seq) DESC, rank LIMIT ?3");
        let mut newest = self.connection.prepare_cached(&newest)?;
        let names = newest.query_map(params![project, beginning, most], |row| row.get(0))?;
        Ok((names.collect::<Result<_, _>>()?, count))
    }

    /// The newest task of `thread`.
    pub(crate) fn last_on(&self, thread: &ThreadId) -> Result<Option<Row>, RegistryError> {
        Ok(select(&self.connection, "WHERE thread_id = ?1 ORDER BY seq DESC LIMIT 1", [thread.as_str()])?
            .pop())
    }
}
