//! What an example prints is what its documentation says.

#[path = "../../examples/scheduling.rs"]
mod scheduling;

#[test]
fn a_scheduling_function_and_a_link_model_of_ones_own_carry_handshakes() {
    let documentation: String = include_str!("../../examples/scheduling.rs")
        .lines()
        .filter_map(|line| line.strip_prefix("//! "))
        .flat_map(|line| [line, "\n"])
        .collect();
    let printed = scheduling::report().unwrap();
    assert!(documentation.contains(&printed), "{printed}");
}
