//! Checks host, origin, path and token of a request, from its headers alone.
//!
//! A web page can call this machine under any name (DNS rebinding), but the browser reports that name and the
//! page's origin truthfully. Both are checked before the token, so that a page cannot even guess tokens.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use hyper::header::{
    ACCESS_CONTROL_REQUEST_METHOD, AUTHORIZATION, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN,
};
use hyper::{Method, StatusCode, Uri};

use crate::host::Token;
use crate::host::{Reachability, reach};
use crate::mcp::http::PATH;

#[derive(Debug)]
pub(crate) struct Guard {
    hosts: Hosts,
    origins: Vec<String>,
    token: Token,
}

/// The host names under which clients may call this server.
#[derive(Debug)]
enum Hosts {
    /// These names of this machine, with the port.
    Named(Vec<String>),
    /// Any IP address: only names can be rebound.
    Addresses,
}

/// What a request may do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Admitted {
    Request,
    /// A CORS preflight request.
    Preflight,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    Host,
    Origin,
    Path,
    Token,
}

impl Refusal {
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Refusal::Host | Refusal::Origin => StatusCode::FORBIDDEN,
            Refusal::Path => StatusCode::NOT_FOUND,
            Refusal::Token => StatusCode::UNAUTHORIZED,
        }
    }

    pub(crate) fn text(self) -> &'static str {
        match self {
            Refusal::Host => "unknown host name; use the address that `delegator serve` printed\n",
            Refusal::Origin => "this origin is not listed in `http_origins`\n",
            Refusal::Path => "not found; the server is at /mcp\n",
            Refusal::Token => {
                "the header `Authorization: Bearer TOKEN` is missing or wrong; the token is in the file `http-token`\n"
            }
        }
    }
}

impl Guard {
    pub(crate) fn new(address: SocketAddr, origins: Vec<String>, token: Token) -> Guard {
        let hosts = match reach(address) {
            Reachability::Machine => Hosts::Named(names(address)),
            Reachability::Network => Hosts::Addresses,
        };
        Guard { hosts, origins, token }
    }

    /// The allowed host names; empty if any address is allowed.
    pub(crate) fn hosts(&self) -> &[String] {
        match &self.hosts {
            Hosts::Named(names) => names,
            Hosts::Addresses => &[],
        }
    }

    pub(crate) fn origins(&self) -> &[String] {
        &self.origins
    }

    pub(crate) fn admit(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Admitted, Refusal> {
        let is_ours = |host: &str| match &self.hosts {
            Hosts::Named(names) => names.iter().any(|name| name.eq_ignore_ascii_case(host)),
            Hosts::Addresses => is_address(host),
        };
        let host = only(headers, &HOST).and_then(|host| host.to_str().ok());
        // A request target may contain a host, which then overrides the header.
        if !host.is_some_and(is_ours) || !uri.authority().is_none_or(|host| is_ours(host.as_str())) {
            return Err(Refusal::Host);
        }
        if headers.contains_key(ORIGIN) && self.origin(headers).is_none() {
            return Err(Refusal::Origin);
        }
        if uri.path() != PATH {
            return Err(Refusal::Path);
        }
        // Browsers send preflights without the token; the answer only permits the real request.
        let asks = method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        if asks && headers.contains_key(ORIGIN) {
            return Ok(Admitted::Preflight);
        }
        match only(headers, &AUTHORIZATION).and_then(bearer) {
            Some(shown) if self.token.is(shown) => Ok(Admitted::Request),
            _ => Err(Refusal::Token),
        }
    }

    /// The origin of the calling page, if it is allowed.
    pub(crate) fn origin<'a>(&self, headers: &'a HeaderMap) -> Option<&'a HeaderValue> {
        let origin = only(headers, &ORIGIN)?;
        let text = origin.to_str().ok()?;
        self.origins.iter().any(|listed| listed.eq_ignore_ascii_case(text)).then_some(origin)
    }
}

/// The value of a header that occurs exactly once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut all = headers.get_all(name).iter();
    all.next().filter(|_| all.next().is_none())
}

fn bearer(value: &HeaderValue) -> Option<&[u8]> {
    let (scheme, token) = value.as_bytes().split_at_checked("bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"bearer ").then(|| token.trim_ascii())
}

/// The allowed hosts of a server at this address.
fn names(address: SocketAddr) -> Vec<String> {
    let own = match address.ip() {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    };
    let mut hosts = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "[::1]".to_owned()];
    if !hosts.contains(&own) {
        hosts.push(own);
    }
    let port = address.port();
    let mut names: Vec<String> = hosts.iter().map(|host| format!("{host}:{port}")).collect();
    // Clients leave out the default port.
    if port == 80 {
        names.append(&mut hosts);
    }
    names
}

/// Whether a host is an IP address or `localhost`, which cannot be rebound.
fn is_address(host: &str) -> bool {
    let in_brackets = |host: &str| {
        let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        inner.is_some_and(|inner| inner.parse::<Ipv6Addr>().is_ok())
    };
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    host.parse::<SocketAddr>().is_ok()
        || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_ipv4())
        || in_brackets(host)
        || name.eq_ignore_ascii_case("localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCAL: &str = "127.0.0.1:8931";
    const ORIGIN_LISTED: &str = "http://localhost:6274";

    fn guard(address: &str) -> (Guard, String, tempfile::TempDir) {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("http-token");
        let token = Token::open(&file).unwrap();
        let shown = std::fs::read_to_string(file).unwrap().trim().to_owned();
        (Guard::new(address.parse().unwrap(), vec![ORIGIN_LISTED.into()], token), shown, dir)
    }

    /// What a server at `address` says to a request with these headers; `TOKEN`
    /// stands for the token.
    #[track_caller]
    fn check(address: &str, line: (&str, &str), given: &[(&str, &str)], expected: Result<Admitted, Refusal>) {
        let (guard, token, _dir) = guard(address);
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            let value = value.replace("TOKEN", &token);
            headers.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
        }
        let (method, uri) = (line.0.parse().unwrap(), line.1.replace("TOKEN", &token).parse().unwrap());
        assert_eq!(guard.admit(&method, &uri, &headers), expected, "{line:?} {given:?}");
    }

    const TOKEN: (&str, &str) = ("authorization", "Bearer TOKEN");

    #[test]
    fn the_token_opens_the_one_path() {
        let post = ("POST", "/mcp");
        let ours = ("host", LOCAL);
        check(LOCAL, post, &[ours, TOKEN], Ok(Admitted::Request));
        check(LOCAL, post, &[ours, ("authorization", "bearer TOKEN")], Ok(Admitted::Request));
        check(LOCAL, ("POST", "/"), &[ours, TOKEN], Err(Refusal::Path));
        check(LOCAL, ("POST", "/mcp/"), &[ours, TOKEN], Err(Refusal::Path));
        check(LOCAL, post, &[ours], Err(Refusal::Token));
        for wrong in ["Bearer", "Bearer ", "Bearer TOKENa", "Basic TOKEN", "TOKEN", "Bearer TOKEN TOKEN"] {
            check(LOCAL, post, &[ours, ("authorization", wrong)], Err(Refusal::Token));
        }
        check(LOCAL, post, &[ours, TOKEN, TOKEN], Err(Refusal::Token));
        check(LOCAL, ("POST", "/mcp?access_token=TOKEN"), &[ours], Err(Refusal::Token));
        check(LOCAL, ("OPTIONS", "/mcp"), &[ours], Err(Refusal::Token));
    }

    #[test]
    fn a_server_of_this_machine_answers_to_its_names_and_port() {
        let post = ("POST", "/mcp");
        let own = |address: &'static str, host| {
            check(address, post, &[("host", host), TOKEN], Ok(Admitted::Request))
        };
        let foreign = |host| check(LOCAL, post, &[("host", host), TOKEN], Err(Refusal::Host));
        own(LOCAL, "localhost:8931");
        own(LOCAL, "LOCALHOST:8931");
        own(LOCAL, "[::1]:8931");
        own("127.0.0.2:8931", "127.0.0.2:8931");
        own("127.0.0.1:80", "localhost");
        for host in
            ["evil.example", "evil.example:8931", "localhost", "localhost:80", "127.0.0.1.evil.example:8931"]
        {
            foreign(host);
        }
        foreign("localhost:8931@evil.example");
        foreign("");
        check(LOCAL, post, &[TOKEN], Err(Refusal::Host));
        check(LOCAL, post, &[("host", LOCAL), ("host", LOCAL), TOKEN], Err(Refusal::Host));
        check(LOCAL, ("POST", "http://evil.example/mcp"), &[("host", LOCAL), TOKEN], Err(Refusal::Host));
    }

    #[test]
    fn a_server_of_the_network_answers_to_addresses_and_to_no_name() {
        let post = ("POST", "/mcp");
        let far = "0.0.0.0:8931";
        for host in ["192.168.1.7:8931", "10.0.0.1", "[fe80::1]:8931", "[fe80::1]", "localhost:9000"] {
            check(far, post, &[("host", host), TOKEN], Ok(Admitted::Request));
        }
        for host in
            ["evil.example:8931", "evil.example", "1.2.3.4.evil.example", "localhost.evil.example:1", ""]
        {
            check(far, post, &[("host", host), TOKEN], Err(Refusal::Host));
        }
        check(far, post, &[("host", "192.168.1.7:8931")], Err(Refusal::Token));
    }

    #[test]
    fn a_page_has_to_be_listed_before_its_token_counts() {
        let post = ("POST", "/mcp");
        let ours = ("host", LOCAL);
        check(LOCAL, post, &[ours, ("origin", ORIGIN_LISTED), TOKEN], Ok(Admitted::Request));
        check(LOCAL, post, &[ours, ("origin", ORIGIN_LISTED)], Err(Refusal::Token));
        for origin in ["http://evil.example", "null", "http://localhost", "http://127.0.0.1:8931", ""] {
            check(LOCAL, post, &[ours, ("origin", origin), TOKEN], Err(Refusal::Origin));
            check(LOCAL, post, &[ours, ("origin", origin)], Err(Refusal::Origin));
        }
        let twice = [ours, ("origin", ORIGIN_LISTED), ("origin", ORIGIN_LISTED), TOKEN];
        check(LOCAL, post, &twice, Err(Refusal::Origin));
    }

    #[test]
    fn a_listed_page_may_ask_whether_it_may_ask() {
        let asks = ("access-control-request-method", "POST");
        let options = ("OPTIONS", "/mcp");
        let ours = ("host", LOCAL);
        check(LOCAL, options, &[ours, ("origin", ORIGIN_LISTED), asks], Ok(Admitted::Preflight));
        check(LOCAL, options, &[ours, ("origin", "http://evil.example"), asks], Err(Refusal::Origin));
        check(LOCAL, options, &[ours, asks], Err(Refusal::Token));
    }
}
