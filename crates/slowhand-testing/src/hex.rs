//! Octets in hexadecimal.

/// The octets of a hexadecimal number; blanks are ignored.
///
/// # Panics
///
/// If there is anything but digits and blanks, or half an octet.
pub fn octets(hexadecimal: &str) -> Vec<u8> {
    let digits = hexadecimal.chars().filter(|character| *character != ' ');
    let digits: Vec<u8> = digits.map(|digit| digit.to_digit(16).expect("a hexadecimal digit") as u8).collect();
    assert!(digits.len().is_multiple_of(2), "half an octet: {hexadecimal}");
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// Two digits an octet.
pub fn text(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}
