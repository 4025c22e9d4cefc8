use super::*;

fn header(hops_left: u8) -> MeshHeader {
    MeshHeader { hops_left, originator: 0x0102, destination: 0xa0b0 }
}

/// From the figure of RFC 4944 section 5.2; deep hops as OpenThread writes them (`MeshHeader::WriteTo`).
#[test]
fn octet_for_octet() {
    for (hops_left, expected) in [
        (0, &[0xb0, 0x01, 0x02, 0xa0, 0xb0][..]),
        (14, &[0xbe, 0x01, 0x02, 0xa0, 0xb0]),
        (15, &[0xbf, 15, 0x01, 0x02, 0xa0, 0xb0]),
        (19, &[0xbf, 19, 0x01, 0x02, 0xa0, 0xb0]),
    ] {
        let mut octets = [0; MeshHeader::MAX_LENGTH];
        let length = header(hops_left).emit(&mut octets).unwrap();
        assert_eq!(&octets[..length], expected);
        assert_eq!((length, MeshHeader::is_dispatch(octets[0])), (header(hops_left).length(), true));
        let payload = [expected, b"rest"].concat();
        assert_eq!(MeshHeader::parse(&payload), Ok((header(hops_left), &b"rest"[..])));
    }
}

#[test]
fn what_is_cut_off_or_has_long_addresses_is_refused() {
    let octets = [0xbf, 19, 0x01, 0x02, 0xa0, 0xb0];
    for end in 0..octets.len() {
        assert_eq!(MeshHeader::parse(&octets[..end]), Err(Error::Truncated), "{end}");
    }
    for dispatch in [0x80, 0x90, 0xa0, 0x7a, 0xc0] {
        assert_eq!(MeshHeader::parse(&[dispatch, 0, 0, 0, 0, 0]), Err(Error::Dispatch(dispatch)));
    }
    assert_eq!(header(19).emit(&mut [0; 5]), Err(Error::BufferTooSmall(5)));
}
