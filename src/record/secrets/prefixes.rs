//! Tokens that are known by their prefix. Each row is the prefix, the alphabet of what follows it, and how long that is, as
//! the service documents it or as its tokens are.

use std::sync::LazyLock;

use super::Secret;
use super::alphabet::{base64, dashed, dotted, hex, letter, lower, path, upper, url_safe, word, word_};
use super::value::is_random_body;

struct Rule {
    what: &'static str,
    prefix: &'static str,
    follows: fn(u8) -> bool,
    /// At least this many characters, and at most.
    length: (usize, usize),
}

/// No upper limit.
const ANY: usize = usize::MAX;

const fn rule(what: &'static str, prefix: &'static str, follows: fn(u8) -> bool, least: usize, most: usize) -> Rule {
    Rule { what, prefix, follows, length: (least, most) }
}

#[rustfmt::skip] // a table reads better as one
const RULES: &[Rule] = &[
    // Clouds
    rule("an AWS access key",             "AKIA",                   upper,    16, 16),
    rule("an AWS temporary access key",   "ASIA",                   upper,    16, 16),
    rule("an AWS context credential",     "ACCA",                   upper,    16, 16),
    rule("an AWS bearer token",           "ABIA",                   upper,    16, 16),
    rule("an AWS Bedrock key",            "ABSK",                   base64,   60, ANY),
    rule("an AWS session token",          "IQoJb3JpZ2lu",           base64,   60, ANY),
    rule("an AWS session token",          "FwoGZXIvYXdz",           base64,   60, ANY),
    rule("an AWS session token",          "FQoGZXIvYXdz",           base64,   60, ANY),
    rule("a Google API key",              "AIza",                   url_safe, 35, 35),
    rule("a Google OAuth token",          "ya29.",                  url_safe, 40, ANY),
    rule("a Google OAuth secret",         "GOCSPX-",                url_safe, 24, 40),
    rule("a Google refresh token",        "1//0",                   url_safe, 40, ANY),
    rule("an Azure storage key",          "AccountKey=",            base64,   80, 90),
    rule("a DigitalOcean token",          "dop_v1_",                hex,      64, 64),
    rule("a DigitalOcean token",          "doo_v1_",                hex,      64, 64),
    rule("a DigitalOcean token",          "dor_v1_",                hex,      64, 64),
    rule("an Alibaba Cloud access key",   "LTAI",                   word,     12, 26),
    rule("a Tencent Cloud access key",    "AKID",                   word,     32, 32),
    rule("a Yandex Cloud key",            "AQVN",                   url_safe, 35, 38),
    rule("a Heroku key",                  "HRKU-",                  url_safe, 36, 80),
    rule("a Fly.io token",                "fo1_",                   url_safe, 40, ANY),
    rule("a Fly.io token",                "fm1r_",                  base64,   80, ANY),
    rule("a Fly.io token",                "fm2_",                   base64,   80, ANY),
    rule("a Netlify token",               "nfp_",                   word,     36, 60),
    rule("a Render key",                  "rnd_",                   word,     28, 60),
    rule("a Vercel token",                "vcp_",                   word,     24, 80),
    rule("a Scaleway key",                "SCW",                    upper,    17, 17),
    // Forges, packages, continuous integration
    rule("a GitHub token",                "ghp_",                   word,     36, 255),
    rule("a GitHub token",                "gho_",                   word,     36, 255),
    rule("a GitHub token",                "ghu_",                   word,     36, 255),
    rule("a GitHub token",                "ghs_",                   dotted,   36, ANY),
    rule("a GitHub token",                "ghr_",                   word,     36, 255),
    rule("a GitHub token",                "github_pat_",            word_,    60, 255),
    rule("a GitLab token",                "glpat-",                 dotted,   20, 300),
    rule("a GitLab deploy token",         "gldt-",                  dotted,   20, 300),
    rule("a GitLab runner token",         "glrt-",                  dotted,   20, 300),
    rule("a GitLab runner token",         "glrtr-",                 dotted,   20, 300),
    rule("a GitLab runner token",         "GR1348941",              url_safe, 20, 60),
    rule("a GitLab trigger token",        "glptt-",                 dotted,   20, 300),
    rule("a GitLab job token",            "glcbt-",                 dotted,   20, 300),
    rule("a GitLab OAuth secret",         "gloas-",                 dotted,   20, 300),
    rule("a GitLab SCIM token",           "glsoat-",                dotted,   20, 300),
    rule("a GitLab feed token",           "glft-",                  dotted,   20, 300),
    rule("a GitLab mail token",           "glimt-",                 dotted,   20, 300),
    rule("a GitLab agent token",          "glagent-",               dotted,   20, 300),
    rule("a GitLab feature flag token",   "glffct-",                dotted,   20, 300),
    rule("a Bitbucket token",             "ATBB",                   word,     28, 36),
    rule("an Atlassian token",            "ATATT3x",                any_url,  60, ANY),
    rule("an Atlassian token",            "ATCTT3x",                any_url,  60, ANY),
    rule("an npm token",                  "npm_",                   word,     36, 36),
    rule("a PyPI token",                  "pypi-AgEIcHlwaS5vcmc",   url_safe, 50, ANY),
    rule("a PyPI token",                  "pypi-AgENdGVzdC5weXBpLm9yZw", url_safe, 50, ANY),
    rule("a crates.io token",             "cio",                    word,     32, 32),
    rule("a RubyGems key",                "rubygems_",              hex,      48, 48),
    rule("a NuGet key",                   "oy2",                    lower,    43, 43),
    rule("a Clojars token",               "CLOJARS_",               lower,    60, 60),
    rule("a Docker token",                "dckr_pat_",              url_safe, 24, 40),
    rule("a Docker token",                "dckr_oat_",              url_safe, 24, 40),
    rule("an Artifactory key",            "AKCp",                   word,     60, 80),
    rule("an Artifactory token",          "cmVmdGtu",               word,     50, 70),
    rule("a CircleCI token",              "CCIPAT_",                word_,    40, 90),
    rule("a CircleCI token",              "CCIPRJ_",                word_,    40, 90),
    rule("a Buildkite token",             "bkua_",                  hex,      40, 40),
    rule("a SonarQube token",             "sqp_",                   hex,      40, 40),
    rule("a SonarQube token",             "squ_",                   hex,      40, 40),
    rule("a SonarQube token",             "sqa_",                   hex,      40, 40),
    rule("a Sourcegraph token",           "sgp_",                   word_,    40, 80),
    rule("a Terraform token",             "atlasv1.",               url_safe, 60, 70),
    rule("a Pulumi token",                "pul-",                   hex,      40, 40),
    rule("a Postman key",                 "PMAK-",                  dashed,   50, 64),
    // Models
    rule("an Anthropic key",              "sk-ant-",                url_safe, 40, 255),
    rule("an OpenAI key",                 "sk-proj-",               url_safe, 40, 255),
    rule("an OpenAI key",                 "sk-svcacct-",            url_safe, 40, 255),
    rule("an OpenAI key",                 "sk-admin-",              url_safe, 40, 255),
    rule("an OpenAI key",                 "sk-None-",               url_safe, 40, 255),
    rule("an OpenRouter key",             "sk-or-",                 url_safe, 40, 255),
    rule("a Langfuse key",                "sk-lf-",                 dashed,   36, 36),
    rule("a key for models",              "sk-",                    word,     32, 255),
    rule("an xAI key",                    "xai-",                   url_safe, 60, 255),
    rule("a Groq key",                    "gsk_",                   word,     40, 80),
    rule("a Perplexity key",              "pplx-",                  word,     40, 80),
    rule("a Replicate token",             "r8_",                    url_safe, 30, 60),
    rule("a Hugging Face token",          "hf_",                    word,     30, 60),
    rule("a Hugging Face token",          "api_org_",               letter,   34, 34),
    rule("an NVIDIA key",                 "nvapi-",                 url_safe, 60, 80),
    rule("a LangSmith key",               "lsv2_",                  word_,    36, 80),
    rule("a Pinecone key",                "pcsk_",                  word_,    40, 100),
    rule("a LlamaCloud key",              "llx-",                   word,     40, 80),
    rule("a Firecrawl key",               "fc-",                    hex,      32, 32),
    rule("a Jina key",                    "jina_",                  url_safe, 50, 80),
    rule("a Tavily key",                  "tvly-",                  url_safe, 28, 64),
    rule("a Fireworks key",               "fw_",                    word,     22, 28),
    rule("an ElevenLabs key",             "sk_",                    hex,      48, 48),
    // Messages and mail
    rule("a Slack token",                 "xoxb-",                  dashed,   30, 255),
    rule("a Slack token",                 "xoxp-",                  dashed,   30, 255),
    rule("a Slack token",                 "xoxa-",                  dashed,   30, 255),
    rule("a Slack token",                 "xoxr-",                  dashed,   30, 255),
    rule("a Slack token",                 "xoxs-",                  dashed,   30, 255),
    rule("a Slack token",                 "xoxo-",                  dashed,   30, 255),
    rule("a Slack token",                 "xoxc-",                  dashed,   30, 255),
    rule("a Slack cookie",                "xoxd-",                  any_url,  60, ANY),
    rule("a Slack token",                 "xoxe-",                  dashed,   30, 255),
    rule("a Slack token",                 "xoxe.xox",               dashed,   60, 255),
    rule("a Slack app token",             "xapp-",                  dashed,   30, 255),
    rule("a Slack webhook",               "hooks.slack.com/services/T", path, 30, 120),
    rule("a Slack webhook",               "hooks.slack.com/workflows/T", path, 30, 160),
    rule("a Slack webhook",               "hooks.slack.com/triggers/T", path, 30, 160),
    rule("a Discord webhook",             "discord.com/api/webhooks/", path,  70, 120),
    rule("a Discord webhook",             "discordapp.com/api/webhooks/", path, 70, 120),
    rule("a Teams webhook",               "webhook.office.com/webhookb2/", teams, 100, 260),
    rule("a SendGrid key",                "SG.",                    dotted,   60, 70),
    rule("a Mailgun key",                 "key-",                   lower,    32, 32),
    rule("a Brevo key",                   "xkeysib-",               dashed,   60, 100),
    rule("a Brevo key",                   "xsmtpsib-",              dashed,   60, 100),
    rule("a Resend key",                  "re_",                    word_,    32, 40),
    rule("a Twilio key",                  "SK",                     xdigit,      32, 32),
    rule("a Twilio account",              "AC",                     xdigit,      32, 32),
    rule("a Matrix token",                "syt_",                   word_,    35, 80),
    // Payments and shops
    rule("a Stripe live key",             "sk_live_",               word,     24, 255),
    rule("a Stripe live key",             "rk_live_",               word,     24, 255),
    rule("a webhook secret",              "whsec_",                 base64,   24, 80),
    rule("a Shopify token",               "shpat_",                 xdigit,   32, 32),
    rule("a Shopify token",               "shpca_",                 xdigit,   32, 32),
    rule("a Shopify token",               "shppa_",                 xdigit,   32, 32),
    rule("a Shopify token",               "shpss_",                 xdigit,   32, 32),
    rule("a Square token",                "sq0atp-",                url_safe, 22, 64),
    rule("a Square secret",               "sq0csp-",                url_safe, 43, 43),
    rule("a Square token",                "EAAA",                   any_url,  40, 70),
    rule("a PayPal token",                "access_token$production$", paypal, 40, 60),
    rule("a Razorpay key",                "rzp_live_",              word,     14, 24),
    rule("a Flutterwave key",             "FLWSECK-",               dashed,   32, 48),
    rule("a Plaid token",                 "access-production-",     dashed,   36, 36),
    // Data and secrets
    rule("a Databricks token",            "dapi",                   hex,      32, 32),
    rule("a Supabase token",              "sbp_",                   hex,      40, 80),
    rule("a Supabase key",                "sb_secret_",             url_safe, 20, 60),
    rule("a PlanetScale secret",          "pscale_tkn_",            dotted,   32, 64),
    rule("a PlanetScale secret",          "pscale_pw_",             dotted,   32, 64),
    rule("a PlanetScale secret",          "pscale_oauth_",          dotted,   32, 64),
    rule("a Neon key",                    "napi_",                  word,     40, 80),
    rule("a MongoDB Atlas secret",        "mdb_sa_sk_",             url_safe, 30, 60),
    rule("a Vault token",                 "hvs.",                   url_safe, 20, 300),
    rule("a Vault token",                 "hvb.",                   url_safe, 60, 400),
    rule("a Vault token",                 "hvr.",                   url_safe, 20, 300),
    rule("a Vault token",                 "s.",                     word,     24, 24),
    rule("a Doppler token",               "dp.",                    dotted,   40, 60),
    rule("a 1Password token",             "ops_eyJ",                base64,   100, ANY),
    rule("a 1Password secret key",        "A3-",                    dashed,   35, 40),
    rule("a Tailscale key",               "tskey-",                 dashed,   20, 80),
    rule("an age key",                    "AGE-SECRET-KEY-1",       upper,    58, 58),
    rule("a Nostr key",                   "nsec1",                  lower,    58, 58),
    rule("a wallet key",                  "xprv",                   word,     107, 108),
    rule("an OpenShift token",            "sha256~",                url_safe, 43, 43),
    // Monitoring
    rule("a Grafana token",               "glc_",                   base64,   32, ANY),
    rule("a Grafana token",               "glsa_",                  word_,    32, 60),
    rule("a Grafana key",                 "eyJrIjoi",               base64,   60, ANY),
    rule("a New Relic key",               "NRAK-",                  upper,    27, 27),
    rule("a New Relic key",               "NRIQ-",                  url_safe, 30, 36),
    rule("a New Relic key",               "NRRA-",                  url_safe, 30, 46),
    rule("a Sentry token",                "sntrys_",                base64,   60, ANY),
    rule("a Sentry token",                "sntryu_",                hex,      64, 64),
    rule("a PostHog key",                 "phx_",                   word,     40, 60),
    rule("a Dynatrace token",             "dt0c01.",                dotted,   80, 96),
    rule("a Dynatrace token",             "dt0s01.",                dotted,   80, 96),
    rule("a LaunchDarkly key",            "sdk-",                   uuid,     36, 36),
    // Other services
    rule("a Linear key",                  "lin_api_",               word,     32, 60),
    rule("a Linear token",                "lin_oauth_",             word,     32, 80),
    rule("a Notion token",                "ntn_",                   word,     40, 60),
    rule("a Notion token",                "secret_",                word,     43, 43),
    rule("an Airtable token",             "pat",                    airtable, 77, 82),
    rule("a Figma token",                 "figd_",                  url_safe, 36, 60),
    rule("a Figma token",                 "figo_",                  url_safe, 36, 60),
    rule("a Dropbox token",               "sl.",                    dotted,   100, ANY),
    rule("a Contentful token",            "CFPAT-",                 url_safe, 43, 43),
    rule("a HubSpot token",               "pat-na1-",               dashed,   36, 36),
    rule("a HubSpot token",               "pat-eu1-",               dashed,   36, 36),
    rule("a Typeform token",              "tfp_",                   dotted,   40, 64),
    rule("an EasyPost key",               "EZAK",                   word,     54, 54),
    rule("a Duffel token",                "duffel_live_",           url_safe, 43, 43),
    rule("a Frame.io token",              "fio-u-",                 url_safe, 64, 64),
    rule("a Mapbox token",                "sk.eyJ",                 dotted,   60, 200),
    rule("a Facebook token",              "EAAC",                   word,     80, ANY),
    rule("a Facebook token",              "EAAG",                   word,     80, ANY),
    rule("a StackHawk key",               "hawk.",                  dotted,   40, 44),
    rule("a Voiceflow key",               "VF.",                    dotted,   40, 50),
    rule("a Zoho token",                  "1000.",                  dotted,   65, 65),
    rule("a Cloudflare origin key",       "v1.0-",                  uuid,     150, 190),
    rule("a Sourcegraph key",             "slk_",                   hex,      64, 64),
    rule("an Adobe secret",               "p8e-",                   url_safe, 32, 32),
    rule("an Ory token",                  "ory_",                   dotted,   32, 120),
    rule("a Salesforce session",          "00D",                    salesforce, 90, ANY),
    rule("an Infisical token",            "st.",                    dotted_hex, 90, 90),
    rule("an Intercom token",             "dG9rOm",                 base64,   40, 80),
    rule("an Instagram token",            "IGQV",                   url_safe, 100, ANY),
    rule("an Instagram token",            "IGAA",                   url_safe, 100, ANY),
    rule("an Asana token",                "1/",                     asana,    49, 49),
    rule("an Asana token",                "2/",                     asana,    66, 66),
    rule("an Adyen key",                  "AQEyhmfx",               any_url,  80, ANY),
    rule("a Yandex Cloud token",          "t1.9eu",                 dotted,   100, ANY),
];

/// For each first byte of a prefix, a bit for each second byte: most words of a text begin otherwise.
static SECOND: [u128; 256] = {
    let mut seconds = [0; 256];
    let mut at = 0;
    while at < RULES.len() {
        let prefix = RULES[at].prefix.as_bytes();
        seconds[prefix[0] as usize] |= 1 << (prefix[1] & 127);
        at += 1;
    }
    seconds
};

/// Finds the first token in a text that has a known prefix.
pub(super) fn find(text: &str) -> Option<Secret> {
    // For each byte, the rules whose prefix begins with it.
    static BY_FIRST: LazyLock<Vec<Vec<&'static Rule>>> = LazyLock::new(|| {
        let mut by_first = vec![Vec::new(); 256];
        for rule in RULES {
            by_first[usize::from(rule.prefix.as_bytes()[0])].push(rule);
        }
        by_first
    });
    let bytes = text.as_bytes();
    let mut in_word = false;
    for (at, byte) in bytes.iter().enumerate() {
        if !in_word {
            let second = bytes.get(at + 1).copied().unwrap_or_default();
            if SECOND[usize::from(*byte)] >> (second & 127) & 1 == 1
                && let Some(rule) = BY_FIRST[usize::from(*byte)].iter().find(|rule| rule.matches(&bytes[at..]))
            {
                return Some(Secret { what: rule.what, at });
            }
        }
        in_word = byte.is_ascii_alphanumeric();
    }
    None
}

impl Rule {
    /// Whether such a token is at the begin of these bytes.
    fn matches(&self, bytes: &[u8]) -> bool {
        let Some(body) = bytes.strip_prefix(self.prefix.as_bytes()) else { return false };
        let (least, most) = self.length;
        // No further than needed: a text may repeat the prefix from end to end.
        let enough = if most == ANY { least } else { most + 1 };
        let mut length = body.iter().take(enough).take_while(|byte| (self.follows)(**byte)).count();
        // The full stop of a sentence is no part of the token.
        while length > least && length <= most && body[length - 1] == b'.' {
            length -= 1;
        }
        (least..=most).contains(&length) && is_random_body(&body[..length])
    }
}

fn xdigit(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

fn uuid(byte: u8) -> bool {
    hex(byte) || byte == b'-'
}

fn any_url(byte: u8) -> bool {
    url_safe(byte) || matches!(byte, b'=' | b'%' | b'+' | b'/')
}

fn teams(byte: u8) -> bool {
    path(byte) || byte == b'@'
}

fn paypal(byte: u8) -> bool {
    word(byte) || byte == b'$'
}

fn salesforce(byte: u8) -> bool {
    word_(byte) || matches!(byte, b'!' | b'.')
}

fn dotted_hex(byte: u8) -> bool {
    hex(byte) || byte == b'.'
}

fn asana(byte: u8) -> bool {
    hex(byte) || matches!(byte, b':' | b'/')
}

fn airtable(byte: u8) -> bool {
    word(byte) || byte == b'.'
}
