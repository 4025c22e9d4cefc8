//! Readers of one value.

use slowhand_lab::interrupt::Interrupt;
use slowhand_lab::readers::{ReadersPlan, ReadersRecord, Way};
use slowhand_lab::scenario::Scenario;

fn plan(changes: &[(&str, &str)]) -> ReadersPlan {
    let mut sections = String::from(
        "network = { topology = { kind = \"line\", hops = 1 } }\n\
         mac = { kind = \"tsch\", slotframe = 11 }\n\
         client = { device = \"openmote-cc2538\" }\n\
         session = { stack = \"lean-dtls\", suite = \"TLS_PSK_WITH_AES_128_CCM_8\" }\n",
    );
    for (key, value) in changes {
        sections += &format!("{key} = {value}\n");
    }
    ReadersPlan::new(&sections.parse::<Scenario>().unwrap()).unwrap()
}

fn run(plan: &ReadersPlan, way: Way, readers: u32) -> ReadersRecord {
    plan.run(way, readers, 1, &Interrupt::default(), &mut ()).unwrap()
}

#[test]
fn look() {
    for readers in [1, 2, 5, 10, 20, 50] {
        for way in Way::ALL {
            println!("{:?}", run(&plan(&[]), way, readers));
        }
    }
}
