//! Credentials that are whole lines or blocks: URLs, headers, commands, connection strings, files.

use super::draw::{Draw, to_base64};
use super::{Form, Kind};

const fn line(name: &'static str, make: fn(&mut Draw) -> String) -> Kind {
    Kind { name, setting: "", form: Form::Line, make }
}

pub(super) const LINES: &[Kind] = &[
    line("Postgres URL", |draw| format!("postgres://app:{}@db.prod.internal:5432/app", draw.url_password())),
    line("PostgreSQL URL with a chosen password", |draw| {
        format!(
            "postgresql://svc_orders:{}@10.3.7.21/orders?sslmode=require",
            draw.chosen().replace('#', "%23").replace('?', "%3F")
        )
    }),
    line("MySQL URL", |draw| format!("mysql://root:{}@mysql-0.mysql:3306/shop", draw.url_password())),
    line("MongoDB URL", |draw| {
        format!("mongodb+srv://admin:{}@cluster0.k3x9q.mongodb.net/?retryWrites=true", draw.url_password())
    }),
    line("Redis URL", |draw| format!("redis://:{}@cache.prod.internal:6379/0", draw.url_password())),
    line("AMQP URL", |draw| format!("amqps://worker:{}@rabbit.prod.internal:5671/jobs", draw.url_password())),
    line("SQL Server URL", |draw| format!("sqlserver://sa:{}@sql01.corp.net:1433?database=crm", draw.url_password())),
    line("ClickHouse URL", |draw| format!("clickhouse://default:{}@ch1.prod.internal:9000/logs", draw.url_password())),
    line("FTP URL", |draw| format!("ftp://deploy:{}@ftp.prod.internal/releases", draw.url_password())),
    line("SMTP URL", |draw| format!("smtps://mailer:{}@smtp.prod.internal:465", draw.url_password())),
    line("proxy URL", |draw| format!("https_proxy=http://svc-build:{}@proxy.corp.net:3128", draw.url_password())),
    line("git remote with a token", |draw| {
        format!("git clone https://x-access-token:{}@git.corp.net/team/app.git", draw.hex(40))
    }),
    line("ADO.NET string", |draw| {
        format!("Server=tcp:sql01.corp.net,1433;Database=crm;User ID=svc;Password={};Encrypt=True", draw.password())
    }),
    line("ODBC string", |draw| format!("Driver={{PostgreSQL}};Server=db01;Uid=svc;Pwd={};", draw.password())),
    line("JDBC string", |draw| format!("jdbc:postgresql://db01:5432/app?user=svc&password={}", draw.url_password())),
    line("libpq string", |draw| format!("host=db01 port=5432 user=svc password={} dbname=app", draw.url_password())),
    line("Azure storage string", |draw| {
        format!(
            "DefaultEndpointsProtocol=https;AccountName=prodfiles;AccountKey={}==;EndpointSuffix=core.windows.net",
            draw.base64(86)
        )
    }),
    line("Azure service bus string", |draw| {
        format!(
            "Endpoint=sb://prod.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={}=",
            draw.base64(43)
        )
    }),
    line("Azure SAS URL", |draw| {
        format!(
            "https://prodfiles.blob.core.windows.net/in?sv=2023-11-03&ss=b&srt=co&sp=rl&se=2027-01-01T00:00:00Z&sig={}%3D",
            draw.word(43)
        )
    }),
    line("S3 signed URL", |draw| {
        format!(
            "https://prod-files.s3.amazonaws.com/r.csv?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=900&X-Amz-Signature={}",
            draw.hex(64)
        )
    }),
    line("Google Chat webhook", |draw| {
        format!(
            "https://chat.googleapis.com/v1/spaces/{}/messages?key={}&token={}",
            draw.word(11),
            draw.safe(39),
            draw.safe(43)
        )
    }),
    line("incoming webhook of a chat server", |draw| format!("https://chat.corp.net/hooks/{}", draw.lower(26))),
    line("Bearer header", |draw| format!("Authorization: Bearer {}", draw.safe(43))),
    line("Basic header", |draw| {
        format!("Authorization: Basic {}", to_base64(format!("svc-build:{}", draw.password()).as_bytes()))
    }),
    line("token header", |draw| format!("Authorization: token {}", draw.hex(40))),
    line("API key header", |draw| format!("X-Api-Key: {}", draw.word(40))),
    line("private token header", |draw| format!("PRIVATE-TOKEN: {}", draw.safe(20))),
    line("session cookie", |draw| format!("Cookie: theme=dark; sessionid={}", draw.lower(32))),
    line("curl with a login", |draw| format!("curl -sS -u 'ada:{}' https://ci.corp.net/api/json", draw.password())),
    line("curl with a header", |draw| format!("curl -H \"X-Auth-Token: {}\" https://api.corp.net/v1/me", draw.hex(32))),
    line("mysql with a password", |draw| format!("mysql -h db01 -u root -p{} shop < dump.sql", draw.url_password())),
    line("openssl with a password", |draw| {
        format!("openssl enc -d -aes-256-cbc -pbkdf2 -in a.enc -k {} -out a", draw.url_password())
    }),
    line("password before its name", |draw| format!("Log in as ada with {} as the password.", draw.url_password())),
    line("quoted password before its name", |draw| format!("I used `{}` as the database password", draw.password())),
    line("token before its name", |draw| format!("curl works with {} as the API token", draw.word(40))),
    line("key below its label", |draw| format!("Your new API key:\n\n    {}\n\nKeep it safe.", draw.word(40))),
    line("key below a sentence", |draw| format!("The API key of the build is:\n\n    {}\n", draw.word(40))),
    line("key below a heading", |draw| format!("## API key\n\n    {}\n", draw.word(40))),
    line("hex key below its label", |draw| format!("Encryption key\n\n\t{}\n", draw.hex(32))),
    line("password below its label", |draw| format!("Root password:\n\n    {}\n", draw.url_password())),
    line("sshpass", |draw| format!("sshpass -p '{}' ssh deploy@build01", draw.password())),
    line("docker login", |draw| format!("docker login -u ada -p {} registry.corp.net", draw.url_password())),
    line("SQL statement", |draw| format!("ALTER USER app WITH PASSWORD '{}';", draw.password())),
    line("MySQL statement", |draw| format!("CREATE USER 'app'@'%' IDENTIFIED BY '{}';", draw.password())),
    line("netrc", |draw| format!("machine git.corp.net login ada password {}", draw.url_password())),
    line("npmrc", |draw| format!("//registry.corp.net/:_authToken={}", draw.uuid())),
    line("Docker configuration", |draw| {
        format!(
            "{{\"auths\":{{\"registry.corp.net\":{{\"auth\":\"{}\"}}}}}}",
            to_base64(format!("ada:{}", draw.password()).as_bytes())
        )
    }),
    line("Kubernetes secret", |draw| {
        format!("apiVersion: v1\nkind: Secret\ndata:\n  password: {}\n", to_base64(draw.password().as_bytes()))
    }),
    line("Kubernetes variable", |draw| format!("env:\n  - name: DB_PASSWORD\n    value: \"{}\"\n", draw.password())),
    line("Terraform variable", |draw| {
        format!("variable \"db_password\" {{\n  default = \"{}\"\n}}\n", draw.password())
    }),
    line("XML setting", |draw| format!("<add key=\"SmtpPassword\" value=\"{}\" />", draw.password())),
    line("Maven setting", |draw| format!("<server><id>corp</id><password>{}</password></server>", draw.url_password())),
    line("Vault output", |draw| {
        format!("Unseal Key 1: {}\nInitial Root Token: hvs.{}", draw.base64(44), draw.word(24))
    }),
    line("kubeadm join", |draw| format!("kubeadm join 10.3.7.2:6443 --token {}.{}", draw.lower(6), draw.lower(16))),
    line("Python call", |draw| format!("session.login(\"ada\", password=\"{}\")", draw.password())),
    line("Python pair", |draw| format!("requests.get(url, auth=(\"ada\", \"{}\"))", draw.password())),
    line("sentence with a password", |draw| {
        format!("The password of the staging box is {} and it expires on Friday.", draw.password())
    }),
    line("RSA key", |draw| draw.pem("RSA PRIVATE KEY", 24)),
    line("PKCS 8 key", |draw| draw.pem("PRIVATE KEY", 3)),
    line("EC key", |draw| draw.pem("EC PRIVATE KEY", 2)),
    line("OpenSSH key", |draw| draw.pem("OPENSSH PRIVATE KEY", 6)),
    line("PGP key", |draw| draw.pem("PGP PRIVATE KEY BLOCK", 8)),
    line("PuTTY key", |draw| {
        format!(
            "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\n{}\nPrivate-MAC: {}\n",
            draw.base64(48),
            draw.hex(64)
        )
    }),
    line("Google service account", |draw| {
        serde_json::json!({ "type": "service_account", "private_key": draw.pem("PRIVATE KEY", 24) }).to_string()
    }),
];
