//! The names of the hosts, as programs find them in /etc/hosts (hosts(5)).

use crate::programs::server_of;
use slowhand_lab::plan::Plan;
use slowhand_lab::scenario::Scenario;
use slowhand_net::address::{Host, NodeId};
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A file that each program of a world has in the place of /etc/hosts. It is removed with this.
#[derive(Debug)]
pub(crate) struct NameFile(PathBuf);

impl NameFile {
    /// `server` is the server of the scenario, `internet` the host on the Internet, `node0`, `node1` and so on are the nodes.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn new(scenario: &Scenario, plan: &Plan) -> io::Result<Self> {
        // A process runs one world at a time, and nobody else has its number: a file that is there is of one that was killed.
        let path = std::env::temp_dir().join(format!("slowhand-{}.hosts", std::process::id()));
        let _ = fs::remove_file(&path);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&path)?;
        let named = Self(path);
        file.write_all(text(server_of(scenario), plan.nodes()).as_bytes())?;
        Ok(named)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for NameFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0); // somebody may have removed it
    }
}

fn text(server: Host, nodes: usize) -> String {
    let mut text = "127.0.0.1 localhost\n::1 localhost\n".to_owned();
    let mut add = |host: Host, name: &str| {
        let _ = writeln!(text, "{} {name}", host.address()); // into a string
    };
    add(server, "server");
    add(Host::Internet, "internet");
    for node in 0..u16::try_from(nodes).unwrap_or(u16::MAX) {
        add(Host::Node(NodeId(node)), &format!("node{node}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::text;
    use slowhand_net::address::Host;

    #[test]
    fn each_host_has_a_name() {
        let text = text(Host::Internet, 2);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[2..4], ["2001:db8:1::1 server", "2001:db8:1::1 internet"]);
        assert_eq!(lines[4..], ["2001:db8::12:7400:0:0 node0", "2001:db8::12:7400:0:1 node1"]);
    }
}
