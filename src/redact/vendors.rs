//! Tokens of well-known vendors: one row per form, tried in this order.
//!
//! `tests/redaction/vendors.txt` has samples of every prefix. Tokens without a prefix (a bare UUID
//! or hex) are recognised by the name beside them, in `named_values.rs`.

use crate::redact::plausibility;
use crate::redact::rules::Chars::{Alnum, Base64, Capital, Dotted, Hex, Url, Uuid, Word};
use crate::redact::rules::Rule;

/// How the number of a Discord bot begins: the base64 of its first digits.
macro_rules! discord_prefixes {
    ($($start:literal)*) => {
        &[$(
            concat!($start, "A"), concat!($start, "E"), concat!($start, "I"), concat!($start, "M"),
            concat!($start, "Q"), concat!($start, "U"), concat!($start, "Y"), concat!($start, "c"),
            concat!($start, "g"), concat!($start, "k"),
        )*]
    };
}

pub(super) const VENDORS: &[Rule] = &[
    // Models and agents
    Rule::whole("anthropic", &["sk-ant-"], "sk-ant-[A-Za-z0-9_-]{16,}")
        .when(plausibility::has_digit_or_capital),
    Rule::token("langfuse", &["sk-lf-"], Uuid, 36),
    Rule::whole("openai", &["sk-"], "sk-[A-Za-z0-9_-]{20,}").when(plausibility::is_openai),
    Rule::whole("huggingface", &["hf_"], "hf_[A-Za-z0-9]{30,}\\b").when(plausibility::has_digit_or_capital),
    Rule::whole("huggingface", &["api_org_"], "api_org_[A-Za-z0-9]{30,}\\b"),
    Rule::whole("api-key", &["gsk_"], "gsk_[A-Za-z0-9_]{40,}").when(plausibility::has_digit_or_capital),
    Rule::whole("api-key", &["xai-"], "xai-[A-Za-z0-9_-]{40,}").when(plausibility::has_digit_or_capital),
    Rule::whole("api-key", &["pplx-"], "pplx-[A-Za-z0-9_-]{40,}").when(plausibility::has_digit_or_capital),
    Rule::whole("api-key", &["r8_"], "r8_[A-Za-z0-9_]{30,}").when(plausibility::has_digit_or_capital),
    Rule::token("api-key", &["csk-", "llx-"], Alnum, 40), // Cerebras, LlamaCloud
    Rule::token("api-key", &["fw_"], Alnum, 22),          // Fireworks
    Rule::token("api-key", &["jina_", "tgp_v1_", "nvapi-", "pcsk_"], Url, 36), // Jina, Together, NVIDIA, Pinecone
    Rule::token("api-key", &["lsv2_pt_", "lsv2_sk_", "tvly-"], Url, 28),       // LangSmith, Tavily
    Rule::token("api-key", &["e2b_", "fc-", "sk_"], Hex, 32),                  // E2B, Firecrawl, ElevenLabs
    Rule::token("api-key", &["rpa_"], Alnum, 40),                              // RunPod
    // Clouds
    Rule::whole("google", &["AIza"], "AIza[A-Za-z0-9_-]{30,}"),
    Rule::whole("google", &["ya29."], r"ya29\.[A-Za-z0-9_.-]{20,}"),
    Rule::whole("google", &["GOCSPX-"], "GOCSPX-[A-Za-z0-9_-]{20,}"),
    Rule::whole("google", &["AQ.Ab"], r"AQ\.Ab[A-Za-z0-9_-]{30,}"),
    Rule::whole("google", &["1//0"], "1//0[A-Za-z0-9_-]{30,}"),
    Rule::token("google", &["GOOG"], Capital, 20), // HMAC for Cloud Storage
    Rule::group("google", &[":APA91b"], ":(APA91b[A-Za-z0-9_-]{100,})"), // FCM
    Rule::group(
        "google",
        &["private_key_id"],
        r#"(?i:private_key_id)\\{0,7}["']?[ \t]{0,8}[:=][ \t]{0,8}\\{0,7}["']?([a-f0-9]{32,})"#,
    ),
    Rule::whole("aws", &["AKIA", "ASIA", "ABIA", "ACCA"], r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    Rule::whole("aws", &["ABSK"], "ABSK[A-Za-z0-9+/]{60,}={0,2}"),
    Rule::token("aws", &["bedrock-api-key-"], Base64, 40),
    Rule::token("aws", &["k8s-aws-v1."], Url, 60),
    Rule::group("azure", &["accountkey", "sharedaccesskey"], "[A-Za-z]+=([A-Za-z0-9+/]{40,}={0,2})"),
    Rule::group("azure", &["?sig=", "&sig=", "0026sig="], "[&?026]+[Ss][Ii][Gg]=([A-Za-z0-9%+/=_-]{40,})"),
    Rule::whole(
        "azure",
        &["0Q~", "1Q~", "2Q~", "3Q~", "4Q~", "5Q~", "6Q~", "7Q~", "8Q~", "9Q~"],
        "[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,}",
    )
    .before(3),
    Rule::whole("azure", &["JQQJ99"], "[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{20,}\\b").before(52),
    // Azure's keys with a signature near their end: storage and others of 512 bits, messaging and others of 256 bits
    Rule::whole(
        "azure",
        &["+ASt", "+ABa", "+AMC", "ACDb", "APIM"],
        "[A-Za-z0-9+/]{76}[A-Za-z+]{4}[A-Za-z0-9+/]{5}[AQgw]==",
    )
    .before(76),
    Rule::whole(
        "azure",
        &["+ASb", "+AEh", "+ARm", "AIoT", "AZEG", "AzCa"],
        "[A-Za-z0-9+/]{33}[A-Za-z+]{4}[A-P][A-Za-z0-9+/]{5}=",
    )
    .before(33),
    Rule::whole("azure", &["+ACR"], r"[A-Za-z0-9+/]{42}\+ACR[A-D][A-Za-z0-9+/]{5}").before(42), // Container Registry
    Rule::whole("azure", &["AzSe"], r"[A-Za-z0-9]{42}AzSe[A-D][A-Za-z0-9]{5}\b").before(42),    // Search
    Rule::whole("azure", &["AzFu"], "[A-Za-z0-9_-]{44}AzFu[A-Za-z0-9_-]{5}[AQgw]==").before(44), // Functions
    Rule::token("api-key", &["dop_v1_", "doo_v1_", "dor_v1_"], Word, 40), // DigitalOcean
    Rule::token("api-key", &["LTAI"], Alnum, 16),                         // Alibaba
    Rule::token("api-key", &["AQVN", "y0_Ag", "y0__x"], Url, 35),         // Yandex
    Rule::whole("api-key", &["t1."], r"t1\.[A-Za-z0-9_-]+={0,2}\.[A-Za-z0-9_-]{80,}={0,2}"),
    Rule::token("api-key", &["HRKU-"], Url, 30), // Heroku
    Rule::token("api-key", &["fo1_", "fm1a_", "fm1r_", "fm2_"], Base64, 40), // Fly.io
    Rule::token("api-key", &["cfut_", "cfat_", "cfk_"], Alnum, 36), // Cloudflare
    Rule::token("api-key", &["v1.0-"], Url, 150), // Cloudflare Origin CA
    Rule::token("api-key", &["nfp_", "nfc_", "nfo_", "nfu_", "nfb_"], Alnum, 36), // Netlify
    Rule::token("api-key", &["vcp_", "vca_", "vci_", "vck_", "vcr_"], Alnum, 20), // Vercel
    Rule::token("api-key", &["ddp_", "ddo_", "ddw_"], Alnum, 36), // Deno Deploy
    Rule::token("api-key", &["rnd_"], Alnum, 28), // Render
    Rule::token("api-key", &["tk-us-"], Url, 40), // Scalingo
    Rule::token("api-key", &["sha256~"], Url, 40), // OpenShift
    // Code, builds and packages
    Rule::whole(
        "github",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        r"gh[pousr]_[A-Za-z0-9_]{20,}(?:\.[A-Za-z0-9_-]{10,}){0,2}",
    )
    .when(plausibility::has_digit_or_capital),
    Rule::whole("github", &["github_pat_"], "github_pat_[A-Za-z0-9_]{20,}")
        .when(plausibility::has_digit_or_capital),
    Rule::whole(
        "gitlab",
        &[
            "glpat-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glsoat-", "glagent-",
            "gloas-", "glimt-", "glffct-", "glwt-",
        ],
        r"gl[a-z]{2,5}-[A-Za-z0-9_-]{20,}(?:\.[A-Za-z0-9_-]{2,}){0,3}",
    )
    .when(plausibility::has_digit_or_capital),
    Rule::token("gitlab", &["GR1348941"], Url, 20),
    Rule::token("api-key", &["ATATT3", "ATCTT3", "ATBB"], Base64, 28), // Atlassian
    Rule::whole("npm", &["npm_"], r"npm_[A-Za-z0-9]{36}\b"),
    Rule::whole("pypi", &["pypi-Ag"], "pypi-Ag[A-Za-z0-9_-]{30,}"),
    Rule::token("api-key", &["cio"], Alnum, 32).when(plausibility::is_key), // crates.io
    Rule::token("api-key", &["oy2"], Alnum, 43).when(plausibility::is_key), // NuGet
    Rule::token("api-key", &["rubygems_"], Hex, 40),
    Rule::token("api-key", &["CLOJARS_"], Alnum, 50),
    Rule::token("api-key", &["AKCp", "cmVmdGtu"], Alnum, 55), // Artifactory
    Rule::token("api-key", &["dckr_pat_", "dckr_oat_"], Url, 20), // Docker
    Rule::token("api-key", &["bkua_", "bkct_"], Alnum, 36),   // Buildkite
    Rule::token("api-key", &["CCIPAT_", "CCIPRJ_"], Word, 40), // CircleCI
    Rule::token("api-key", &["squ_", "sqp_", "sqa_"], Hex, 40), // Sonar
    Rule::token("api-key", &["sgp_", "slk_", "sgd_"], Word, 40), // Sourcegraph
    Rule::token("api-key", &["API-"], Capital, 25).when(plausibility::is_key), // Octopus Deploy
    Rule::token("api-key", &["odt_"], Alnum, 32),             // Dependency-Track
    Rule::token("api-key", &["hawk."], Dotted, 40),           // StackHawk
    // Chat, mail and phones
    Rule::whole(
        "slack",
        &["xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"],
        "xox[a-z]-[A-Za-z0-9%+/_-]{10,}",
    )
    .when(plausibility::has_digit_or_capital),
    Rule::whole("slack", &["xoxe.xox", "xapp-", "xwfp-"], "(?:xoxe[.]xox[bp]|xapp|xwfp)-[A-Za-z0-9-]{10,}")
        .when(plausibility::has_digit_or_capital),
    Rule::group("slack", &["hooks.slack.com"], "[a-zA-Z.]+/[a-z]+/([A-Za-z0-9/_+-]{20,})"),
    Rule::group("api-key", &["/incomingwebhook/"], "(?i:/incomingwebhook/)([A-Za-z0-9/-]{32,})"), // Teams
    Rule::group("api-key", &["hooks.zapier.com"], "[a-zA-Z.]+/hooks/catch/([A-Za-z0-9/]{10,})"),
    Rule::group("telegram", &[":AA"], "[0-9]{8}:(AA[A-Za-z0-9_-]{32,34})").before(8),
    // Discord's bots: their number, the time, a signature
    Rule::whole(
        "discord",
        discord_prefixes!("MT" "Mj" "Mz" "ND" "NT" "Nj" "Nz" "OD" "OT"),
        r"[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
    )
    .when(plausibility::is_key),
    Rule::group("discord", &["/api/webhooks/"], "/api/webhooks/[0-9]+/([A-Za-z0-9_-]{40,})"),
    Rule::whole("api-key", &["SG."], r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}")
        .when(plausibility::has_digit_or_capital),
    Rule::token("api-key", &["key-"], Hex, 32), // Mailgun
    Rule::token("api-key", &["xkeysib-", "xsmtpsib-"], Url, 60), // Brevo
    Rule::token("api-key", &["mlsn."], Hex, 60), // MailerSend
    Rule::token("api-key", &["re_"], Word, 28), // Resend
    Rule::whole(
        "api-key",
        &["-us1", "-us2", "-us3", "-us4", "-us5", "-us6", "-us7", "-us8", "-us9"],
        r"[a-f0-9]{32}-us[0-9]{1,2}\b",
    )
    .before(32), // Mailchimp
    Rule::token(
        "api-key",
        &[
            "SK0", "SK1", "SK2", "SK3", "SK4", "SK5", "SK6", "SK7", "SK8", "SK9", "SKa", "SKb", "SKc", "SKd",
            "SKe", "SKf",
        ],
        Hex,
        31,
    ), // Twilio
    // Money and shops
    Rule::whole(
        "stripe",
        &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_"],
        "[sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,}",
    )
    .when(plausibility::has_digit_or_capital),
    Rule::whole("stripe", &["whsec_"], "whsec_[A-Za-z0-9+/_-]{24,}={0,2}")
        .when(plausibility::has_digit_or_capital),
    Rule::token("api-key", &["sq0csp-", "sq0atp-"], Url, 22), // Square
    Rule::whole("api-key", &["EAA"], "EAA[A-Za-z0-9_-]{50,}").when(plausibility::is_dense), // Facebook, Square
    Rule::whole(
        "api-key",
        &["access_token$"],
        r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}",
    ),
    Rule::token(
        "api-key",
        &[
            "access-sandbox-",
            "access-development-",
            "access-production-",
            "link-sandbox-",
            "link-production-",
        ],
        Uuid,
        36,
    ), // Plaid
    Rule::token("api-key", &["shpat_", "shpss_", "shpca_", "shppa_"], Word, 32), // Shopify
    Rule::token("api-key", &["shippo_live_", "shippo_test_"], Hex, 40),
    Rule::token("api-key", &["EZAK", "EZTK"], Alnum, 50), // EasyPost
    Rule::token("api-key", &["duffel_live_", "duffel_test_"], Url, 40),
    Rule::whole("api-key", &["FLWSECK"], "FLWSECK(?:_TEST)?-[a-f0-9]{12,}(?:-X)?"), // Flutterwave
    Rule::token("api-key", &["pdl_live_apikey_", "pdl_sdbx_apikey_"], Word, 40),    // Paddle
    // Data, logs and monitoring
    Rule::whole("api-key", &["dapi"], r"dapi[a-f0-9]{32}(?:-[0-9])?\b")
        .when(plausibility::has_digit_or_capital), // Databricks
    Rule::token("api-key", &["glsa_", "glc_", "eyJrIjoi"], Base64, 32), // Grafana
    Rule::token("api-key", &["sntrys_", "sntryu_"], Base64, 30),        // Sentry
    Rule::token("api-key", &["NRAK-", "NRII-", "NRJS-", "NRRA-"], Url, 19), // New Relic
    Rule::token("api-key", &["dt0c01.", "dt0s01."], Dotted, 60),        // Dynatrace
    Rule::token("api-key", &["phx_", "phs_", "phc_"], Word, 40),        // PostHog
    Rule::token("api-key", &["essu_"], Base64, 40),                     // Elastic Cloud
    Rule::token("api-key", &["4b1d"], Alnum, 38).when(plausibility::is_key), // ClickHouse
    Rule::token("api-key", &["cflt"], Base64, 56).when(plausibility::is_key), // Confluent
    Rule::token("api-key", &["mdb_sa_sk_"], Url, 36),                   // MongoDB Atlas
    Rule::token("api-key", &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], Dotted, 32), // PlanetScale
    Rule::token("api-key", &["sbp_", "sb_secret_"], Word, 28),          // Supabase
    Rule::token("api-key", &["napi_"], Alnum, 40),                      // Neon
    Rule::token("api-key", &["aio_"], Alnum, 28),                       // Adafruit
    Rule::whole("api-key", &["_mmk"], "[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk\\b").before(36), // MaxMind
    Rule::token("api-key", &["sm_aat_", "sm_pat_", "sm_sat_"], Alnum, 16), // SettleMint
    // Infrastructure and secrets
    Rule::whole("api-key", &["hvs.", "hvb.", "hvr."], r"hv[sbr]\.[A-Za-z0-9_-]{24,}")
        .when(plausibility::has_digit_or_capital),
    Rule::whole("api-key", &[".atlasv1."], r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{50,}").before(14),
    Rule::token("api-key", &["pul-"], Hex, 40),           // Pulumi
    Rule::token("api-key", &["ico-"], Alnum, 32),         // Infracost
    Rule::token("api-key", &["pnu_", "pnb_"], Alnum, 30), // Prefect
    // Airtable, Harness
    Rule::whole(
        "api-key",
        &["pat", "sat."],
        r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}|[ps]at\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}",
    ),
    Rule::token("api-key", &["dp.ct.", "dp.pt.", "dp.st.", "dp.sa.", "dp.scim.", "dp.audit."], Dotted, 36), // Doppler
    Rule::token("api-key", &["ops_eyJ"], Base64, 60), // 1Password
    Rule::token("api-key", &["A3-"], Url, 31).when(plausibility::is_key), // 1Password
    Rule::whole("api-key", &["AGE-SECRET-KEY-1"], r"AGE-SECRET-KEY-1[A-Z0-9]{50,}\b")
        .when(plausibility::has_digit_or_capital),
    Rule::whole("api-key", &["tskey-"], "tskey-[a-z]+-[A-Za-z0-9_-]{20,}")
        .when(plausibility::has_digit_or_capital),
    Rule::token("api-key", &["dnkey-"], Url, 60),
    Rule::group("api-key", &[".acc-", ".acc_"], r"\.acc[_-][a-z0-9-]{10,32}\.([A-Za-z0-9+/_=-]{30,120})"), // Authress
    Rule::token("api-key", &["NF-"], Alnum, 32), // Nightfall
    Rule::token("api-key", &["VF.DM.", "VF.WS."], Dotted, 36), // Voiceflow
    Rule::token("api-key", &["sdk-", "mob-", "api-"], Uuid, 36), // LaunchDarkly
    // Documents and other services
    Rule::token("api-key", &["lin_api_", "lin_oauth_"], Word, 32), // Linear
    Rule::token("api-key", &["ntn_", "secret_"], Alnum, 40),       // Notion
    Rule::token("api-key", &["figd_"], Url, 30),                   // Figma
    Rule::token("api-key", &["PMAK-", "PMAT-"], Url, 26),          // Postman
    Rule::token("api-key", &["CFPAT-"], Url, 40),                  // Contentful
    Rule::token("api-key", &["tfp_"], Dotted, 40),                 // Typeform
    Rule::token("api-key", &["rdme_"], Alnum, 60),                 // ReadMe
    Rule::token("api-key", &["sl."], Dotted, 120),                 // Dropbox
    Rule::token("api-key", &["sk.eyJ", "tk.eyJ"], Dotted, 60),     // Mapbox
    Rule::token("api-key", &["pat-na1-", "pat-na2-", "pat-eu1-"], Uuid, 36), // HubSpot
    Rule::whole("api-key", &["pk_"], "pk_[0-9]{6,9}_[A-Z0-9]{32}\\b"), // ClickUp
    Rule::token("api-key", &["p8e-"], Url, 32),                    // Adobe
    Rule::token("api-key", &["fio-u-"], Url, 60),                  // Frame.io
    Rule::token("api-key", &["s-s4t2ud-", "s-s4t2af-"], Hex, 60),  // 42
    Rule::whole("api-key", &["00D"], r"00D[A-Za-z0-9]{12,15}![A-Za-z0-9._]{60,}"), // Salesforce
    // Twitter: the bearer token of an app
    Rule::whole("bearer", &["AAAAAAAAAAAAAAAAAAAA"], "A{20,24}[B-Za-z0-9%][A-Za-z0-9%]{50,}")
        .when(plausibility::is_dense),
    Rule::group("api-key", &["base64:"], "base64:([A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{22}==)"), // Laravel
];
