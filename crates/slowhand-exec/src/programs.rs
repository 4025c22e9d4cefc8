//! The programs of a scenario, at their hosts.

use crate::setup::{KEY_LOG, Program};
use slowhand_lab::plan::Plan;
use slowhand_lab::scenario::{self, ProgramAt, Scenario};
use slowhand_net::address::{Host, NodeId};

/// The programs of a scenario in the world of a seed, in the order of the scenario. Without a seed `{seed}` stays as it is.
///
/// A program is called by its place: `client`, `client 3` if there are several clients, `server`, `internet`, `node 2`. A second one
/// at the same place is `client (2)`, and so on.
pub fn programs(scenario: &Scenario, plan: &Plan, seed: Option<u64>) -> Vec<Program> {
    let port = scenario.session.server_port();
    let server = server_of(scenario);
    let mut programs: Vec<Program> = Vec::new();
    for told in &scenario.programs {
        for (place, host) in places(&told.at, server, plan.clients()) {
            let alike = programs.iter().filter(|program| is_at(&program.name, &place)).count();
            let name = if alike == 0 { place } else { format!("{place} ({})", alike + 1) };
            let known = Known { server: server.address().to_string(), port, host, seed };
            programs.push(program(told, name, host, &known));
        }
    }
    programs
}

/// Where the server of a scenario is.
pub(crate) fn server_of(scenario: &Scenario) -> Host {
    scenario.server.at.hosts(NodeId::ROOT)[1] // a scenario with programs has one server, whoever its client is
}

/// The names of the hosts where a program runs, and the hosts.
fn places(at: &ProgramAt, server: Host, clients: &[NodeId]) -> Vec<(String, Host)> {
    let at_nodes = |nodes: &[NodeId], name: &dyn Fn(NodeId) -> String| {
        nodes.iter().map(|&node| (name(node), Host::Node(node))).collect()
    };
    match at {
        ProgramAt::Client if clients.len() == 1 => at_nodes(clients, &|_| "client".to_owned()),
        ProgramAt::Client => at_nodes(clients, &|node| format!("client {node}")),
        ProgramAt::Server => vec![("server".to_owned(), server)],
        ProgramAt::Internet => vec![("internet".to_owned(), Host::Internet)],
        ProgramAt::Nodes(nodes) => at_nodes(nodes, &|node| format!("node {node}")),
    }
}

/// True if a program of this name is at this place.
fn is_at(name: &str, place: &str) -> bool {
    name.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("))
}

fn program(told: &scenario::Program, name: String, host: Host, known: &Known) -> Program {
    let nanos = |seconds: f64| (seconds * 1e9) as u64;
    Program {
        name,
        host,
        argv: told.command.words().iter().map(|word| known.put_into(word).into()).collect(),
        environment: told.environment.iter().map(|(name, value)| (name.clone(), known.put_into(value))).collect(),
        start: nanos(told.start().get()),
        is_client: told.at == ProgramAt::Client,
        compute: nanos(told.compute_s.get()),
        input: told
            .stdin
            .iter()
            .map(|input| (nanos(input.at.get()), known.put_into(&input.text).into_bytes()))
            .collect(),
        success: told.success.clone(),
    }
}

/// The values that are put into a text.
struct Known {
    /// The address of the server.
    server: String,
    port: u16,
    /// Where the program runs.
    host: Host,
    seed: Option<u64>,
}

impl Known {
    fn put_into(&self, text: &str) -> String {
        let node = match self.host {
            Host::Node(node) => node.to_string(),
            Host::Internet => String::new(),
        };
        let text = text
            .replace("{server}", &format!("[{}]", self.server))
            .replace("{address}", &self.server)
            .replace("{port}", &self.port.to_string())
            .replace("{keylog}", KEY_LOG)
            .replace("{node}", &node);
        self.seed.map_or(text.clone(), |seed| text.replace("{seed}", &seed.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::programs;
    use slowhand_lab::plan::Plan;
    use slowhand_lab::scenario::Scenario;
    use slowhand_net::address::{Host, NodeId};

    const SCENARIO: &str = r#"
        [network]
        topology = { kind = "star", leaves = 2 }
        [mac]
        kind = "csma"
        [client]
        device = "nrf52840"
        [session]
        stack = "tinydtls"
        suite = "TLS_PSK_WITH_AES_128_CCM_8"
        [[programs]]
        at = "server"
        command = "serve -p {port} 'two words'"
        stdin = [[2.5, "{node}"]]
        [[programs]]
        at = "client"
        command = ["ask", "{server}", "{address}", "{node}", "{seed}"]
        compute_s = 0.25
        [[programs]]
        at = [1, 0]
        command = "sleep 9"
        environment = { WHERE = "node {node}" }
        [[programs]]
        at = "root"
        command = "true"
        start_s = 7
    "#;

    #[test]
    fn programs_are_at_the_places_of_the_scenario() {
        let scenario: Scenario = SCENARIO.parse().unwrap();
        let plan = Plan::new(&scenario).unwrap();
        let found = programs(&scenario, &plan, Some(5));
        let names: Vec<&str> = found.iter().map(|program| program.name.as_str()).collect();
        assert_eq!(names, ["server", "client 1", "client 2", "node 1", "node 0", "node 0 (2)"]);
        let starts: Vec<u64> = found.iter().map(|program| program.start / 1_000_000_000).collect();
        assert_eq!(starts, [0, 1, 1, 0, 0, 7]);
        assert_eq!(found[0].argv, ["serve", "-p", "5684", "two words"]);
        assert_eq!((found[0].host, found[0].input.as_slice()), (Host::Internet, &[(2_500_000_000, Vec::new())][..]));
        let address = Host::Internet.address().to_string();
        assert_eq!(found[2].argv, ["ask", &format!("[{address}]"), &address, "2", "5"]);
        assert_eq!((found[2].is_client, found[2].compute), (true, 250_000_000));
        assert_eq!((found[3].host, found[3].is_client), (Host::Node(NodeId(1)), false));
        assert_eq!(found[4].environment["WHERE"], "node 0");
        assert_eq!(programs(&scenario, &plan, None)[1].argv[4], "{seed}");
    }
}
