//! What replies look like.
