//! Credentials that look like other random values. They are known by the setting that they are given for, named as the
//! documentation of the service names it.

use super::draw::Draw;
use super::{Form, Kind};

const fn named(name: &'static str, setting: &'static str, make: fn(&mut Draw) -> String) -> Kind {
    Kind { name, setting, form: Form::Named, make }
}

pub(super) const NAMED: &[Kind] = &[
    named("AWS secret key", "aws_secret_access_key", |draw| draw.base64(40)),
    named("Azure key", "azure_openai_api_key", |draw| draw.hex(32)),
    named("Azure storage key", "azure_storage_key", |draw| format!("{}==", draw.base64(86))),
    named("Cloudflare global key", "cloudflare_api_key", |draw| draw.hex(37)),
    named("Heroku UUID key", "heroku_api_key", Draw::uuid),
    named("Hetzner token", "hcloud_token", |draw| draw.word(64)),
    named("Linode token", "linode_token", |draw| draw.hex(64)),
    named("Vultr key", "vultr_api_key", |draw| draw.upper(36)),
    named("Datadog key", "dd_api_key", |draw| draw.hex(32)),
    named("Datadog app key", "dd_app_key", |draw| draw.hex(40)),
    named("Algolia key", "algolia_admin_key", |draw| draw.hex(32)),
    named("Mistral key", "mistral_api_key", |draw| draw.word(32)),
    named("Cohere key", "co_api_key", |draw| draw.word(40)),
    named("Deepgram key", "deepgram_api_key", |draw| draw.hex(40)),
    named("Weights & Biases key", "wandb_api_key", |draw| draw.hex(40)),
    named("Snyk token", "snyk_token", Draw::uuid),
    named("Codecov token", "codecov_token", Draw::uuid),
    named("PagerDuty key", "pagerduty_api_key", |draw| format!("u+{}", draw.word(18))),
    named("Rollbar token", "rollbar_access_token", |draw| draw.hex(32)),
    named("Segment key", "segment_write_key", |draw| draw.word(32)),
    named("Auth0 client secret", "auth0_client_secret", |draw| draw.safe(64)),
    named("Okta token", "okta_api_token", |draw| format!("00{}", draw.safe(40))),
    named("Twilio auth token", "twilio_auth_token", |draw| draw.hex(32)),
    named("Trello token", "trello_token", |draw| draw.hex(64)),
    named("Spotify client secret", "spotify_client_secret", |draw| draw.hex(32)),
    named("Twitch client secret", "twitch_client_secret", |draw| draw.lower(30)),
    named("X access token secret", "twitter_access_token_secret", |draw| draw.word(45)),
    named("PayPal client secret", "paypal_client_secret", |draw| format!("E{}", draw.safe(79))),
    named("Zoom client secret", "zoom_client_secret", |draw| draw.word(32)),
    named("Binance secret", "binance_api_secret", |draw| draw.word(64)),
    named("Mapbox download token", "mapbox_downloads_token", |draw| format!("sk.{}", draw.word(80))),
    named("Fastly key", "fastly_api_key", |draw| draw.safe(32)),
    named("Ethereum private key", "private_key", |draw| format!("0x{}", draw.hex(64))),
    named("WireGuard key", "private_key", |draw| format!("{}=", draw.base64(43))),
    named("Rails secret", "secret_key_base", |draw| draw.hex(128)),
    named("Django secret", "secret_key", |draw| draw.of(50, &["abcdefghijklmnopqrstuvwxyz0123456789!@#^*-_=+"])),
    named("Laravel key", "app_key", |draw| format!("base64:{}=", draw.base64(43))),
    named("JWT signing secret", "jwt_secret", |draw| draw.word(32)),
    named("Vault secret id", "secret_id", Draw::uuid),
    named("Database password", "db_password", Draw::password),
    named("Postgres password", "pgpassword", Draw::url_password),
    named("SMTP password", "smtp_password", Draw::password),
    named("Admin password", "admin_password", Draw::chosen),
    named("Keystore passphrase", "keystore_passphrase", Draw::chosen),
    named("Redis password", "redis_password", |draw| draw.hex(64)),
    named("Key of an unknown service", "acme_api_key", |draw| draw.lower(24)),
    named("Secret of an unknown service", "acme_client_secret", |draw| draw.safe(36)),
    named("Token of an unknown service", "acme_access_token", |draw| draw.word(22)),
];
