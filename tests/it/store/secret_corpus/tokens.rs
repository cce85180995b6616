//! Tokens that can be told by how they look, as their issuers document them. They may stand anywhere.

use super::Kind;
use super::draw::{Draw, to_base64};

/// A token that needs no name.
const fn token(name: &'static str, setting: &'static str, make: fn(&mut Draw) -> String) -> Kind {
    Kind { name, setting, form: super::Form::Token, make }
}

pub(super) const TOKENS: &[Kind] = &[
    // Clouds
    token("AWS access key", "aws_access_key_id", |draw| format!("AKIA{}", draw.base32(16))),
    token("AWS temporary access key", "aws_access_key_id", |draw| format!("ASIA{}", draw.base32(16))),
    token("AWS session token", "aws_session_token", |draw| format!("IQoJb3JpZ2luX2Vj{}==", draw.base64(300))),
    token("Google API key", "google_api_key", |draw| format!("AIzaSy{}", draw.safe(33))),
    token("Google OAuth token", "access_token", |draw| format!("ya29.{}", draw.safe(150))),
    token("Google OAuth client secret", "client_secret", |draw| format!("GOCSPX-{}", draw.safe(28))),
    token("Google refresh token", "refresh_token", |draw| format!("1//0{}", draw.safe(60))),
    token("Azure client secret", "azure_client_secret", |draw| format!("{}8Q~{}", draw.word(3), draw.safe(34))),
    token("Azure DevOps token", "azure_devops_pat", |draw| format!("{}AZDO{}", draw.word(76), draw.word(4))),
    token("DigitalOcean token", "digitalocean_token", |draw| format!("dop_v1_{}", draw.hex(64))),
    token("Alibaba Cloud access key", "alibaba_access_key", |draw| format!("LTAI5t{}", draw.word(18))),
    token("Heroku key", "heroku_api_key", |draw| format!("HRKU-AA{}", draw.safe(58))),
    token("Fly.io token", "fly_api_token", |draw| format!("fm2_{}", draw.base64(200))),
    token("Netlify token", "netlify_auth_token", |draw| format!("nfp_{}", draw.word(36))),
    token("Render key", "render_api_key", |draw| format!("rnd_{}", draw.word(28))),
    token("Cloudflare token", "cloudflare_api_token", |draw| format!("cfut_{}", draw.word(48))),
    // Forges and packages
    token("GitHub personal token", "github_token", |draw| format!("ghp_{}", draw.word(36))),
    token("GitHub OAuth token", "github_token", |draw| format!("gho_{}", draw.word(36))),
    token("GitHub server token", "github_token", |draw| format!("ghs_{}", draw.word(36))),
    token("GitHub refresh token", "github_token", |draw| format!("ghr_{}", draw.word(76))),
    token("GitHub fine-grained token", "github_pat", |draw| format!("github_pat_{}_{}", draw.word(22), draw.word(59))),
    token("GitLab personal token", "gitlab_token", |draw| format!("glpat-{}", draw.safe(20))),
    token("GitLab routable token", "gitlab_token", |draw| format!("glpat-{}.01.{}", draw.safe(27), draw.lower(9))),
    token("GitLab deploy token", "ci_deploy_password", |draw| format!("gldt-{}", draw.safe(20))),
    token("GitLab runner token", "runner_token", |draw| format!("glrt-t1_{}", draw.safe(20))),
    token("GitLab trigger token", "trigger_token", |draw| format!("glptt-{}", draw.hex(40))),
    token("GitLab job token", "ci_job_token", |draw| format!("glcbt-64_{}", draw.safe(20))),
    token("GitLab SCIM token", "scim_token", |draw| format!("glsoat-{}", draw.safe(20))),
    token("GitLab agent token", "agent_token", |draw| format!("glagent-{}", draw.safe(50))),
    token("Bitbucket app password", "bitbucket_password", |draw| format!("ATBB{}", draw.word(32))),
    token("Atlassian token", "jira_api_token", |draw| {
        format!("ATATT3xFfGF0{}={}", draw.safe(170), draw.of(8, &["0123456789ABCDEF"]))
    }),
    token("npm token", "npm_token", |draw| format!("npm_{}", draw.word(36))),
    token("PyPI token", "twine_password", |draw| format!("pypi-AgEIcHlwaS5vcmc{}", draw.safe(140))),
    token("crates.io token", "cargo_registry_token", |draw| format!("cio{}", draw.word(32))),
    token("RubyGems key", "gem_host_api_key", |draw| format!("rubygems_{}", draw.hex(48))),
    token("NuGet key", "nuget_api_key", |draw| format!("oy2{}", draw.lower(43))),
    token("Docker token", "docker_password", |draw| format!("dckr_pat_{}", draw.safe(27))),
    token("Artifactory key", "artifactory_api_key", |draw| format!("AKCp{}", draw.word(69))),
    token("CircleCI token", "circle_token", |draw| format!("CCIPAT_{}_{}", draw.word(22), draw.hex(40))),
    token("Buildkite token", "buildkite_token", |draw| format!("bkua_{}", draw.hex(40))),
    token("SonarQube token", "sonar_token", |draw| format!("squ_{}", draw.hex(40))),
    token("Terraform token", "tfe_token", |draw| format!("{}.atlasv1.{}", draw.word(14), draw.safe(67))),
    token("Pulumi token", "pulumi_access_token", |draw| format!("pul-{}", draw.hex(40))),
    token("Postman key", "postman_api_key", |draw| format!("PMAK-{}-{}", draw.hex(24), draw.hex(34))),
    // Models
    token("Anthropic key", "anthropic_api_key", |draw| format!("sk-ant-api03-{}AA", draw.safe(93))),
    token("OpenAI project key", "openai_api_key", |draw| format!("sk-proj-{}T3BlbkFJ{}", draw.safe(74), draw.safe(74))),
    token("OpenAI service key", "openai_api_key", |draw| {
        format!("sk-svcacct-{}T3BlbkFJ{}", draw.safe(58), draw.safe(58))
    }),
    token("OpenAI user key", "openai_api_key", |draw| format!("sk-{}T3BlbkFJ{}", draw.word(20), draw.word(20))),
    token("DeepSeek key", "deepseek_api_key", |draw| format!("sk-{}", draw.hex(32))),
    token("OpenRouter key", "openrouter_api_key", |draw| format!("sk-or-v1-{}", draw.hex(64))),
    token("xAI key", "xai_api_key", |draw| format!("xai-{}", draw.word(80))),
    token("Groq key", "groq_api_key", |draw| format!("gsk_{}WGdyb3FY{}", draw.word(20), draw.word(24))),
    token("Perplexity key", "perplexity_api_key", |draw| format!("pplx-{}", draw.word(48))),
    token("Replicate token", "replicate_api_token", |draw| format!("r8_{}", draw.word(37))),
    token("Hugging Face token", "hf_token", |draw| format!("hf_{}", draw.letters(34))),
    token("NVIDIA key", "nvidia_api_key", |draw| format!("nvapi-{}", draw.safe(64))),
    token("LangSmith key", "langsmith_api_key", |draw| format!("lsv2_pt_{}_{}", draw.hex(32), draw.hex(10))),
    token("Pinecone key", "pinecone_api_key", |draw| format!("pcsk_{}_{}", draw.word(6), draw.word(63))),
    token("Tavily key", "tavily_api_key", |draw| format!("tvly-dev-{}", draw.word(32))),
    token("Firecrawl key", "firecrawl_api_key", |draw| format!("fc-{}", draw.hex(32))),
    token("Cerebras key", "cerebras_api_key", |draw| format!("csk-{}", draw.lower(48))),
    token("Fireworks key", "fireworks_api_key", |draw| format!("fw_{}", draw.word(24))),
    // Messages, mail, payments
    token("Slack bot token", "slack_bot_token", |draw| {
        format!("xoxb-{}-{}-{}", draw.digits(12), draw.digits(13), draw.word(24))
    }),
    token("Slack user token", "slack_token", |draw| {
        format!("xoxp-{}-{}-{}-{}", draw.digits(12), draw.digits(12), draw.digits(13), draw.hex(32))
    }),
    token("Slack app token", "slack_app_token", |draw| {
        format!("xapp-1-A{}-{}-{}", draw.upper(10), draw.digits(13), draw.hex(64))
    }),
    token("Slack webhook", "slack_webhook", |draw| {
        format!("https://hooks.slack.com/services/T{}/B{}/{}", draw.upper(10), draw.upper(10), draw.word(24))
    }),
    token("Discord bot token", "discord_token", |draw| {
        format!("{}.{}.{}", to_base64(format!("1{}", draw.digits(17)).as_bytes()), draw.safe(6), draw.safe(38))
    }),
    token("Discord webhook", "discord_webhook", |draw| {
        format!("https://discord.com/api/webhooks/{}/{}", draw.digits(19), draw.safe(68))
    }),
    token("Teams webhook", "teams_webhook", |draw| {
        format!(
            "https://contoso.webhook.office.com/webhookb2/{}@{}/IncomingWebhook/{}/{}",
            draw.uuid(),
            draw.uuid(),
            draw.hex(32),
            draw.uuid()
        )
    }),
    token("Telegram bot token", "telegram_bot_token", |draw| format!("{}:AA{}", draw.digits(10), draw.safe(33))),
    token("SendGrid key", "sendgrid_api_key", |draw| format!("SG.{}.{}", draw.safe(22), draw.safe(43))),
    token("Mailgun key", "mailgun_api_key", |draw| format!("key-{}", draw.hex(32))),
    token("Mailchimp key", "mailchimp_api_key", |draw| format!("{}-us{}", draw.hex(32), 1 + draw.below(21))),
    token("Brevo key", "brevo_api_key", |draw| format!("xkeysib-{}-{}", draw.hex(64), draw.word(16))),
    token("Resend key", "resend_api_key", |draw| format!("re_{}_{}", draw.word(8), draw.word(24))),
    token("Twilio key", "twilio_api_key", |draw| format!("SK{}", draw.hex(32))),
    token("Stripe live key", "stripe_secret_key", |draw| format!("sk_live_51{}", draw.word(97))),
    token("Stripe restricted key", "stripe_key", |draw| format!("rk_live_51{}", draw.word(97))),
    token("Stripe webhook secret", "stripe_webhook_secret", |draw| format!("whsec_{}", draw.word(32))),
    token("Square token", "square_access_token", |draw| format!("EAAAl{}", draw.safe(59))),
    token("Shopify token", "shopify_access_token", |draw| format!("shpat_{}", draw.hex(32))),
    // Data, secrets, monitoring
    token("Databricks token", "databricks_token", |draw| format!("dapi{}", draw.hex(32))),
    token("Supabase token", "supabase_access_token", |draw| format!("sbp_{}", draw.hex(40))),
    token("Supabase secret key", "supabase_secret_key", |draw| format!("sb_secret_{}_{}", draw.safe(22), draw.safe(8))),
    token("PlanetScale password", "planetscale_password", |draw| format!("pscale_pw_{}", draw.safe(43))),
    token("Neon key", "neon_api_key", |draw| format!("napi_{}", draw.lower(64))),
    token("Vault service token", "vault_token", |draw| format!("hvs.CAESI{}", draw.safe(90))),
    token("Vault batch token", "vault_token", |draw| format!("hvb.AAAAAQ{}", draw.safe(150))),
    token("Vault old token", "vault_token", |draw| format!("s.{}", draw.word(24))),
    token("Doppler token", "doppler_token", |draw| format!("dp.pt.{}", draw.word(43))),
    token("Tailscale key", "ts_authkey", |draw| format!("tskey-auth-{}CNTRL-{}", draw.word(12), draw.word(32))),
    token("age key", "sops_age_key", |draw| {
        format!("AGE-SECRET-KEY-1{}", draw.of(58, &["QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"]))
    }),
    token("OpenShift token", "openshift_token", |draw| format!("sha256~{}", draw.safe(43))),
    token("Grafana cloud token", "grafana_token", |draw| {
        format!(
            "glc_{}",
            to_base64(format!("{{\"o\":\"{}\",\"n\":\"ci\",\"k\":\"{}\"}}", draw.digits(6), draw.word(24)).as_bytes())
        )
    }),
    token("Grafana service token", "grafana_token", |draw| format!("glsa_{}_{}", draw.word(32), draw.hex(8))),
    token("New Relic key", "new_relic_api_key", |draw| format!("NRAK-{}", draw.upper(27))),
    token("New Relic license key", "new_relic_license_key", |draw| format!("{}FFFFNRAL", draw.hex(32))),
    token("Sentry token", "sentry_auth_token", |draw| format!("sntryu_{}", draw.hex(64))),
    token("PostHog key", "posthog_personal_api_key", |draw| format!("phx_{}", draw.word(43))),
    token("Dynatrace token", "dynatrace_token", |draw| format!("dt0c01.{}.{}", draw.base32(24), draw.base32(64))),
    token("LaunchDarkly key", "launchdarkly_sdk_key", |draw| format!("sdk-{}", draw.uuid())),
    // Other services
    token("Linear key", "linear_api_key", |draw| format!("lin_api_{}", draw.word(40))),
    token("Notion token", "notion_token", |draw| format!("ntn_{}", draw.word(46))),
    token("Airtable token", "airtable_token", |draw| format!("pat{}.{}", draw.word(14), draw.hex(64))),
    token("Figma token", "figma_token", |draw| format!("figd_{}", draw.safe(40))),
    token("HubSpot token", "hubspot_token", |draw| format!("pat-na1-{}", draw.uuid())),
    token("Dropbox token", "dropbox_access_token", |draw| format!("sl.{}", draw.safe(136))),
    token("Contentful token", "contentful_token", |draw| format!("CFPAT-{}", draw.safe(43))),
    token("Prefect key", "prefect_api_key", |draw| format!("pnu_{}", draw.word(36))),
    token("ReadMe key", "readme_api_key", |draw| format!("rdme_{}", draw.lower(70))),
    token("Portainer token", "portainer_token", |draw| format!("ptr_{}", draw.word(44))),
    token("Octopus Deploy key", "octopus_api_key", |draw| format!("API-{}", draw.upper(26))),
    token("Harness token", "harness_token", |draw| format!("pat.{}.{}.{}", draw.word(22), draw.hex(24), draw.word(20))),
    token("Clerk key", "clerk_secret_key", |draw| format!("sk_live_{}", draw.word(40))),
    token("Adafruit key", "adafruit_key", |draw| format!("aio_{}", draw.word(28))),
    token("JSON web token", "jwt", |draw| {
        let header = to_base64(br#"{"alg":"HS256","typ":"JWT"}"#);
        let payload = to_base64(format!("{{\"sub\":\"{}\",\"role\":\"admin\"}}", draw.digits(10)).as_bytes());
        format!("{}.{}.{}", header.trim_end_matches('='), payload.trim_end_matches('='), draw.safe(43))
    }),
];
