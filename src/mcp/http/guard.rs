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
        match only(headers, &AUTHORIZATION) {
            Some(shown) if self.is_valid(shown) => Ok(Admitted::Request),
            _ => Err(Refusal::Token),
        }
    }

    /// Whether this `Authorization` header has the token that is in the file now.
    pub(crate) fn is_valid(&self, authorization: &HeaderValue) -> bool {
        bearer(authorization).is_some_and(|shown| self.token.is(shown))
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
    use crate::text::test_rows;

    #[test]
    fn every_request_is_admitted_or_refused_as_its_row_says() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("http-token");
        drop(Token::open(&file).unwrap());
        let token = std::fs::read_to_string(&file).unwrap().trim().to_owned();
        type Row = (String, String, String, Vec<[String; 2]>, String);
        for row in test_rows::<Row>(include_str!("../../../tests/http/guard.jsonl")) {
            let (address, method, path, given, expected) = &row;
            let origins = vec!["http://localhost:6274".to_owned()];
            let guard = Guard::new(address.parse().unwrap(), origins, Token::open(&file).unwrap());
            let mut headers = HeaderMap::new();
            for [name, value] in given {
                let value = value.replace("TOKEN", &token);
                headers.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
            }
            let uri = path.replace("TOKEN", &token).parse().unwrap();
            let told = match guard.admit(&method.parse().unwrap(), &uri, &headers) {
                Ok(admitted) => format!("{admitted:?}"),
                Err(refusal) => format!("{refusal:?}"),
            };
            assert_eq!(told, *expected, "{row:?}");
        }
    }
}
