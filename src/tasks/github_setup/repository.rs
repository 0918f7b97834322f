//! A repository on GitHub, from any of the forms in which git and people write its address.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GitHubRepository {
    pub(super) owner: String,
    pub(super) name: String,
}

impl GitHubRepository {
    /// From an address or `owner/name`; `None` if it is not on GitHub. A user and a password in it are dropped.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let path = match text.split_once("://") {
            Some((scheme, rest)) if ["https", "http", "ssh", "git", "git+ssh"].contains(&scheme) => {
                on_github(rest, '/')?
            }
            Some(_) => return None,
            None => match on_github(text, ':').or_else(|| on_github(text, '/')) {
                Some(path) => path,
                None if text.matches('/').count() == 1 => text,
                None => return None,
            },
        };
        let path = path.split(['?', '#']).next().unwrap_or_default().trim_matches('/');
        let (owner, rest) = path.split_once('/')?;
        // Addresses of pages go deeper: `/tree/main`.
        let name = rest.split('/').next().unwrap_or_default();
        let name = name.strip_suffix(".git").unwrap_or(name);
        (is_owner(owner) && is_name(name)).then(|| Self { owner: owner.to_owned(), name: name.to_owned() })
    }

    /// That of `origin`, or of the first other remote on GitHub.
    pub(super) fn of_remotes(remotes: &[(String, String)]) -> Option<Self> {
        let origin = remotes.iter().filter(|(name, _)| name == "origin");
        let others = remotes.iter().filter(|(name, _)| name != "origin");
        origin.chain(others).find_map(|(_, url)| Self::parse(url).filter(|_| url.contains("github.com")))
    }

    pub(super) fn url(&self) -> String {
        format!("https://github.com/{self}")
    }
}

impl fmt::Display for GitHubRepository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

/// The path in `[user@]github.com[:port]<separator>path`.
fn on_github(text: &str, separator: char) -> Option<&str> {
    let (place, path) = text.split_once(separator)?;
    let host = place.rsplit_once('@').map_or(place, |(_, host)| host);
    let host = host.split(':').next().unwrap_or_default().to_ascii_lowercase();
    ["github.com", "www.github.com", "ssh.github.com"].contains(&host.as_str()).then_some(path)
}

fn is_owner(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"-_".contains(&b);
    (1..=100).contains(&text.len()) && text.bytes().all(allowed) && !text.starts_with('-')
}

fn is_name(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    (1..=100).contains(&text.len())
        && text.bytes().all(allowed)
        && !matches!(text, "." | "..")
        && !text.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::test_rows;

    #[test]
    fn every_form_of_an_address_means_the_same_and_others_mean_nothing() {
        let rows = include_str!("../../../tests/data/github_addresses.jsonl");
        for (text, is_ours) in test_rows::<(String, bool)>(rows) {
            let url = GitHubRepository::parse(&text).map(|found| found.url());
            let expected = is_ours.then_some("https://github.com/octo/my.shop");
            assert_eq!(url.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn origin_comes_before_other_remotes() {
        let remote = |name: &str, url: &str| (name.to_owned(), url.to_owned());
        let told = |remotes: &[(String, String)]| {
            GitHubRepository::of_remotes(remotes).map(|found| found.to_string())
        };
        let fork = remote("fork", "git@github.com:me/shop.git");
        assert_eq!(
            told(&[fork.clone(), remote("origin", "https://github.com/octo/shop")]).unwrap(),
            "octo/shop"
        );
        assert_eq!(told(&[remote("origin", "git@gitlab.com:octo/shop"), fork]).unwrap(), "me/shop");
        assert_eq!(told(&[remote("origin", "octo/shop")]), None, "a directory");
    }
}
