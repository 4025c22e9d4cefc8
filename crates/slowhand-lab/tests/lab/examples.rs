//! The output of an example is what its documentation says.

#[path = "../../examples/aloha.rs"]
mod aloha;
#[path = "../../examples/scheduling.rs"]
mod scheduling;

fn assert_documented(source: &str, printed: &str) {
    let documentation: String =
        source.lines().filter_map(|line| line.strip_prefix("//! ")).flat_map(|line| [line, "\n"]).collect();
    assert!(documentation.contains(printed), "{printed}");
}

#[test]
fn a_scheduling_function_and_a_link_model_of_ones_own_carry_handshakes() {
    assert_documented(include_str!("../../examples/scheduling.rs"), &scheduling::report().unwrap());
}

/// Also that frames take the processors time there: the median grows as it does under CSMA/CA.
#[test]
fn a_link_layer_of_ones_own_carries_handshakes() {
    assert_documented(include_str!("../../examples/aloha.rs"), &aloha::report().unwrap());
}
