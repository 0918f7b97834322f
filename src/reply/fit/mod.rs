//! Makes a reply fit its budget: redacts it, saves long text as files, and shortens the rest.

pub(crate) mod budget;
pub(crate) mod capture;
pub(crate) mod funnel;
pub(crate) mod shorten_stream;
pub(crate) mod size_caps;
pub(crate) mod tail_fields;

pub(crate) use budget::fit_text;
