//! A forge for tests: repositories behind `git http-backend`, which ask for a password.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

/// `ada:secret` and `gitlab-ci-token:job` in base64.
const CREDENTIALS: [&str; 2] = ["Basic YWRhOnNlY3JldA==", "Basic Z2l0bGFiLWNpLXRva2VuOmpvYg=="];

/// How the server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// As git does.
    Well,
    /// It takes the request and never answers.
    Never,
    /// It sends everyone back to where they came from.
    Round,
}

/// A server on a port of its own. It ends with the test process.
pub(super) struct Server {
    port: u16,
    /// Connections that nobody answers, held open.
    _held: Arc<Mutex<Vec<TcpStream>>>,
}

impl Server {
    /// Serves the repositories below a folder.
    pub(super) fn new(folder: &Path, manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let held: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        let (folder, kept) = (folder.to_owned(), Arc::clone(&held));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let folder = folder.clone();
                match manner {
                    Manner::Never => kept.lock().unwrap().push(stream),
                    Manner::Round => drop(thread::spawn(move || round(stream))),
                    // A client that goes away early ends its own request alone.
                    Manner::Well => drop(thread::spawn(move || serve(stream, &folder))),
                }
            }
        });
        Self { port, _held: held }
    }

    /// The address of a repository.
    pub(super) fn url(&self, name: &str) -> String {
        format!("http://127.0.0.1:{}/{name}", self.port)
    }
}

struct Request {
    method: String,
    path: String,
    query: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value.as_str())
    }
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let line = |reader: &mut BufReader<&TcpStream>| {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        Some(line.trim_end().to_owned())
    };
    let first = line(&mut reader)?;
    let mut words = first.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let mut headers = Vec::new();
    loop {
        let header = line(&mut reader)?;
        let Some((name, value)) = header.split_once(':') else { break };
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let mut request = Request { method, path: path.to_owned(), query: query.to_owned(), headers, body: Vec::new() };
    if request.header("transfer-encoding") == "chunked" {
        loop {
            let size = u64::from_str_radix(&line(&mut reader)?, 16).ok()?;
            reader.by_ref().take(size).read_to_end(&mut request.body).ok()?;
            line(&mut reader)?;
            if size == 0 {
                break;
            }
        }
    } else {
        let length = request.header("content-length").parse().unwrap_or(0);
        reader.take(length).read_to_end(&mut request.body).ok()?;
    }
    Some(request)
}

fn round(mut stream: TcpStream) -> Option<()> {
    let request = read(&stream)?;
    let place = format!("{}?{}", request.path, request.query);
    write!(stream, "HTTP/1.1 302 Found\r\nLocation: {place}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").ok()
}

fn serve(mut stream: TcpStream, folder: &Path) -> Option<()> {
    let request = read(&stream)?;
    if !CREDENTIALS.contains(&request.header("authorization")) {
        let asks = "WWW-Authenticate: Basic realm=\"forge\"";
        return write!(stream, "HTTP/1.1 401 Unauthorized\r\n{asks}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            .ok();
    }
    let output = backend(&request, folder)?;
    let end = output.windows(4).position(|four| four == b"\r\n\r\n")?;
    let (head, body) = (String::from_utf8_lossy(&output[..end]).into_owned(), &output[end + 4..]);
    let status = head.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK").to_owned();
    let others: String =
        head.lines().filter(|line| !line.starts_with("Status: ")).map(|line| format!("{line}\r\n")).collect();
    let length = body.len();
    write!(stream, "HTTP/1.1 {status}\r\n{others}Content-Length: {length}\r\nConnection: close\r\n\r\n").ok()?;
    stream.write_all(body).ok()
}

/// Asks git's own server program.
fn backend(request: &Request, folder: &Path) -> Option<Vec<u8>> {
    let programs = Command::new("git").arg("--exec-path").output().ok()?;
    let programs = PathBuf::from(String::from_utf8_lossy(&programs.stdout).trim_end());
    let mut child = Command::new(programs.join("git-http-backend"))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_PROJECT_ROOT", folder)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REMOTE_USER", "ada")
        .env("REQUEST_METHOD", &request.method)
        .env("PATH_INFO", &request.path)
        .env("QUERY_STRING", &request.query)
        .env("CONTENT_TYPE", request.header("content-type"))
        .env("CONTENT_LENGTH", request.body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", request.header("content-encoding"))
        .env("GIT_PROTOCOL", request.header("git-protocol"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let (mut input, body) = (child.stdin.take()?, request.body.clone());
    let writer = thread::spawn(move || _ = input.write_all(&body));
    let output = child.wait_with_output().ok()?;
    writer.join().ok()?;
    Some(output.stdout)
}
