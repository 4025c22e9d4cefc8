use super::*;

fn device(name: &str) -> Device {
    Device::load(name, Path::new("")).unwrap()
}

#[test]
fn the_devices_that_are_built_in_are_read() {
    for name in Device::names() {
        assert!(!device(name).description.is_empty());
    }
    let openmote = device("openmote-cc2538");
    assert_eq!(openmote.current.radio_rx_ma.value, 20.0);
    assert!(matches!(openmote.current.radio_rx_ma.origin, Origin::Source(_)));
    assert!(matches!(openmote.supply_v.origin, Origin::Assumed(_)));
    assert!(openmote.assumed.contains(&"supply_v".to_owned()) && !openmote.assumed.contains(&"radio_rx_ma".to_owned()));
    assert!(openmote.assumed.contains(&"secp192r1.ecdh_generate_ms".to_owned()), "{:?}", openmote.assumed);
}

/// By hand, from the constants in the file.
#[test]
fn operations_take_what_their_parts_take() {
    let openmote = device("openmote-cc2538");
    let time = |operation| openmote.duration(operation).unwrap().as_nanos();
    assert_eq!(time(Operation::Sha256 { blocks: 3 }), 3 * 179_400);
    assert_eq!(time(Operation::EcdsaVerify(Curve::Secp256r1)), 522_200_000);
    assert_eq!(time(Operation::EcdhKeyGeneration(Curve::Secp192r1)), 106_000_000);
    let aead = Aead { mode: AeadMode::Ccm, key_bits: 128, tag: 8, octets: 64, additional: 13 };
    // B0, one of additional data, four of plaintext twice, the tag's: 11 blocks.
    assert_eq!(time(Operation::Seal(aead)), 11 * 30_000);
    assert_eq!(time(Operation::Open(Aead { key_bits: 256, ..aead })), 11 * 30_000 * 14 / 10);
    // GCM: the hash key, four of plaintext, the tag's: 6 AES blocks; GHASH over 1 + 4 + 1.
    assert_eq!(time(Operation::Seal(Aead { mode: AeadMode::Gcm, ..aead })), 6 * 30_000 + 6 * 70_800);
}

/// Each time is another prime, so that no two operations have the same. In microseconds.
#[test]
fn each_operation_has_the_time_of_its_key() {
    let curve = |a: u32, b: u32, c: u32, d: u32| {
        format!(
            "{{ ecdh_generate_ms = {}, ecdh_agree_ms = {}, ecdsa_sign_ms = {}, ecdsa_verify_ms = {} }}",
            v(a),
            v(b),
            v(c),
            v(d)
        )
    };
    let rsa = |a: u32, b: u32| format!("{{ private_ms = {}, public_ms = {} }}", v(a), v(b));
    let device = of(&format!(
        "[crypto]\nsha1_block_us = {}\nsha256_block_us = {}\naes_block_us = {}\nghash_block_us = {}\nsecp192r1 = {}\n\
         secp256r1 = {}\nrsa1024 = {}\nrsa2048 = {}\nrsa3072 = {}",
        v(2),
        v(3),
        v(5),
        v(7),
        curve(11, 13, 17, 19),
        curve(23, 29, 31, 37),
        rsa(41, 43),
        rsa(47, 53),
        rsa(59, 61),
    ));
    let (k1, p256) = (Curve::Secp192r1, Curve::Secp256r1);
    let cbc = |key_bits| Cbc { key_bits, octets: 33 };
    // CCM: B0, one block of additional data (2 + 13), two of plaintext twice, the tag's. GCM: the hash key, two of
    // plaintext, the tag's; GHASH over 1 + 2 + 1.
    let aead = |mode, key_bits| Aead { mode, key_bits, tag: 8, octets: 17, additional: 13 };
    for (operation, us) in [
        (Operation::Sha1 { blocks: 4 }, 4.0 * 2.0),
        (Operation::Sha256 { blocks: 4 }, 4.0 * 3.0),
        (Operation::Sha512 { blocks: 4 }, 4.0 * 4.0 * 3.0),
        (Operation::CbcEncrypt(cbc(128)), 3.0 * 5.0),
        (Operation::CbcDecrypt(cbc(256)), 3.0 * 1.4 * 5.0),
        (Operation::Seal(aead(AeadMode::Ccm, 128)), 7.0 * 5.0),
        (Operation::Open(aead(AeadMode::Ccm, 256)), 7.0 * 1.4 * 5.0),
        (Operation::Seal(aead(AeadMode::Gcm, 128)), 4.0 * 5.0 + 4.0 * 7.0),
        (Operation::Open(aead(AeadMode::Gcm, 256)), 4.0 * 1.4 * 5.0 + 4.0 * 7.0),
        (Operation::EcdhKeyGeneration(k1), 11e3),
        (Operation::EcdhSharedSecret(k1), 13e3),
        (Operation::EcdsaSign(k1), 17e3),
        (Operation::EcdsaVerify(k1), 19e3),
        (Operation::EcdhKeyGeneration(p256), 23e3),
        (Operation::EcdhSharedSecret(p256), 29e3),
        (Operation::EcdsaSign(p256), 31e3),
        (Operation::EcdsaVerify(p256), 37e3),
        (Operation::RsaSign(1024), 41e3),
        (Operation::RsaDecrypt(1024), 41e3),
        (Operation::RsaVerify(1024), 43e3),
        (Operation::RsaEncrypt(1024), 43e3),
        (Operation::RsaSign(2048), 47e3),
        (Operation::RsaVerify(2048), 53e3),
        (Operation::RsaDecrypt(3072), 59e3),
        (Operation::RsaEncrypt(3072), 61e3),
    ] {
        let expected = Duration::from_nanos((us * 1e3f64).round() as u64);
        assert_eq!(device.duration(operation), Ok(expected), "{operation:?}");
        assert_eq!(device.duration(operation).unwrap(), expected, "{operation:?}");
        let half = Paced { device: Arc::new(device.clone()), factor: 0.5 };
        assert_eq!(half.duration(operation).unwrap(), expected / 2, "{operation:?}");
    }
    assert!(device.is_complete());
}

/// A constant with this number.
fn v(number: u32) -> String {
    format!("{{ value = {number}, source = \"a book\" }}")
}

/// The device of a file with these lines behind the keys that each device has.
fn of(lines: &str) -> Device {
    read(&[("own.toml", &format!("{}\n{lines}", required()))]).unwrap()
}

fn required() -> String {
    let currents = ["cpu_active", "cpu_sleep", "radio_tx", "radio_rx", "radio_listen", "radio_sleep"];
    let currents: Vec<String> = currents.iter().map(|name| format!("{name}_ma = {}", v(1))).collect();
    format!("description = \"\"\nsupply_v = {}\ncurrent = {{ {} }}\n", v(1), currents.join(", "))
}

/// The first of these files as a device; the others may be its bases.
fn read(files: &[(&str, &str)]) -> Result<Device, DeviceError> {
    let texts = files.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
    Device::read(files[0].0, &mut Files::of_texts(&texts, None))
}

#[test]
fn cycles_become_a_time_by_the_clock() {
    let lines = |clock| {
        format!(
            "processor.clock_mhz = {}\n[crypto]\nsha256_block_us = {{ cycles = 4800, source = \"a book\" }}\n\
             rsa2048.public_ms = {{ cycles = 4800000, assumed = \"a guess\" }}",
            v(clock)
        )
    };
    for (clock, block_us, public_ms) in [(16, 300, 300), (48, 100, 100)] {
        let device = of(&lines(clock));
        assert_eq!(device.duration(Operation::Sha256 { blocks: 2 }).unwrap().as_micros(), 2 * block_us);
        assert_eq!(device.duration(Operation::RsaVerify(2048)).unwrap().as_millis(), public_ms);
    }
    for wrong in [lines(0), lines(16).replace("processor.clock_mhz", "processor.ram_kib")] {
        let error = read(&[("own.toml", &format!("{}{wrong}", required()))]).unwrap_err().to_string();
        let message = "crypto.sha256_block_us.cycles: found cycles of a clock without frequency, allowed: a time, or cycles together";
        assert!(error.contains(message), "{error}");
    }
}

/// The base has what the file does not say. A number replaces that of the base together with its source.
#[test]
fn a_device_with_a_base_has_its_changes() {
    let fast = "base = \"openmote-cc2538\"\nprocessor.ram_kib = { value = 64, assumed = \"a guess\" }\n\
                [crypto.secp256r1]\necdsa_sign_ms = { value = 9, assumed = \"a guess\" }";
    let (base, fast) = (device("openmote-cc2538"), read(&[("fast.toml", fast)]).unwrap());
    let curve = Curve::Secp256r1;
    assert_eq!(fast.duration(Operation::EcdsaSign(curve)).unwrap().as_millis(), 9);
    assert_eq!(
        fast.duration(Operation::EcdsaVerify(curve)).unwrap(),
        base.duration(Operation::EcdsaVerify(curve)).unwrap()
    );
    assert_eq!((fast.description, fast.current.radio_rx_ma), (base.description, base.current.radio_rx_ma));
    assert_eq!(
        fast.processor.ram_kib.map(|ram| (ram.value, ram.origin)),
        Some((64.0, Origin::Assumed("a guess".into())))
    );
    assert_eq!(fast.file, Path::new("fast.toml"));

    // A base that is a file is found from the device's file on, and may have a base itself.
    let files = [
        ("mine/top.toml", "base = \"sub/middle.toml\"\nsupply_v = { value = 5, source = \"a book\" }"),
        ("mine/sub/middle.toml", "base = \"../bottom.toml\"\nsupply_v = { value = 4, source = \"a book\" }"),
        ("mine/sub/../bottom.toml", "base = \"wismote\"\ndescription = \"the bottom\""),
    ];
    let top = read(&files).unwrap();
    assert_eq!((top.supply_v.value, &*top.description), (5.0, "the bottom"));
    assert_eq!(top.current.radio_tx_ma.value, 25.8);
}

#[test]
fn a_base_that_cannot_be_is_blamed_where_it_is_named() {
    for (text, message) in [
        ("base = \"wismot\"", "own.toml:1: base: found \"wismot\", allowed: one of "),
        ("\nbase = 3", "own.toml:2: base: found 3, allowed: a string"),
        (
            "base = \"own.toml\"",
            "own.toml:1: base: found a base of a base, 8 times, allowed: a device that is not based on",
        ),
        ("base = \"./own.toml\"", "own.toml:1: base: found \"./own.toml\" (there is no file ./own.toml), allowed: "),
        (
            "base = \"wismote\"\nsupply_v.value = -1",
            "own.toml:2: supply_v.value: found -1, allowed: a number from 0 to 1000",
        ),
        ("base = \"wismote\"\ncrypto = 1", "own.toml:2: crypto: found 1, allowed: a table"),
    ] {
        let error = read(&[("own.toml", text)]).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}\nnot {message}");
        assert_eq!(error.ends_with("the path of a device's .toml file from this file on"), error.contains("one of"));
    }
}

#[test]
fn every_operation_has_its_price_on_every_device() {
    let aead = Aead { mode: AeadMode::Gcm, key_bits: 128, tag: 16, octets: 1, additional: 13 };
    for name in Device::names() {
        assert!(device(name).is_complete(), "{name}");
        for operation in [Operation::Sha1 { blocks: 1 }, Operation::Seal(aead), Operation::RsaVerify(1024)] {
            assert!(device(name).duration(operation).unwrap() > Duration::ZERO, "{name}: {operation:?}");
        }
    }
}

/// The largest numbers that a file may have.
#[test]
fn no_time_is_too_long_for_the_clock() {
    let largest = |unit: &str, value: &str| format!("{unit} = {{ value = {value}, source = \"a book\" }}");
    let slow = of(&format!(
        "[crypto]\n{}\n{}\n[crypto.rsa3072]\n{}\n{}",
        largest("sha256_block_us", "1e9"),
        "aes_block_us = { cycles = 4294967295, source = \"a book\" }",
        largest("private_ms", "1e6"),
        largest("public_ms", "1e6"),
    )
    .replace("[crypto]", "[processor]\nclock_mhz = { value = 1e-300, source = \"a book\" }\n[crypto]"));
    let aead = Aead { mode: AeadMode::Ccm, key_bits: 256, tag: 16, octets: u32::MAX / 2, additional: 13 };
    for operation in [Operation::Sha512 { blocks: u32::MAX }, Operation::Seal(aead), Operation::RsaSign(3072)] {
        let paced = Paced { device: Arc::new(slow.clone()), factor: 1e6 };
        assert_eq!(paced.time(operation), Duration::from_secs(1_000_000), "{operation:?}");
    }
}

#[test]
#[should_panic(expected = "own.toml: crypto.sha256_block_us: found nothing, but Sha256 { blocks: 1 } needs it")]
fn a_time_that_is_missing_is_not_zero() {
    let paced = Paced { device: Arc::new(of("")), factor: 1.0 };
    paced.time(Operation::Sha256 { blocks: 1 });
}

/// By hand, from the constants in the file: the TPM has room for 2048 bits, and 255 octets are five blocks of SHA-1 and
/// 16 of AES.
#[test]
fn a_tpm_does_rsa_as_far_as_its_keys_reach() {
    let opal = device("opal-tpm");
    let millis = |operation| opal.duration(operation).unwrap().as_secs_f64() * 1e3;
    assert_eq!(millis(Operation::RsaSign(2048)), 1700.0);
    assert_eq!(millis(Operation::RsaDecrypt(1024)), 212.5);
    assert_eq!(millis(Operation::RsaVerify(2048)), 57.0);
    assert_eq!(millis(Operation::Sha1 { blocks: 5 }), 9.0);
    assert_eq!(millis(Operation::CbcEncrypt(Cbc { key_bits: 128, octets: 256 })), 12.0);
    assert_eq!(millis(Operation::CbcDecrypt(Cbc { key_bits: 256, octets: 256 })), 16.8);
    for bits in [1024, 2048] {
        for operation in [Operation::RsaSign, Operation::RsaVerify, Operation::RsaEncrypt, Operation::RsaDecrypt] {
            assert!(opal.is_for_tpm(operation(bits)));
        }
    }
    assert!(!opal.is_for_tpm(Operation::RsaSign(3072)));
    assert!(!opal.is_for_tpm(Operation::Sha1 { blocks: 1 }));
    assert!(!device("wismote").is_for_tpm(Operation::RsaSign(1024)));
}

/// By hand, from the constants in the files: 39,040,000 cycles at 8 MHz.
#[test]
fn new_devices_have_their_published_times() {
    let micros = |name: &str, operation| device(name).duration(operation).unwrap().as_micros();
    let curve = Curve::Secp256r1;
    assert_eq!(micros("telosb", Operation::EcdhSharedSecret(curve)), 4_880_000);
    assert_eq!(micros("nrf52840", Operation::EcdsaSign(curve)), 20_080);
    assert_eq!(micros("stm32wb55", Operation::EcdsaVerify(curve)), 160_250);
    assert_eq!(micros("stm32wb55", Operation::RsaSign(2048)), 4_714_000);
    assert_eq!(micros("esp32-c6", Operation::EcdsaVerify(curve)), 27_000);
    assert_eq!(micros("atmega128rfa1", Operation::RsaVerify(1024)), 215_000);
    // 309 ms at 100 MHz, at 64 and at 48 MHz.
    assert_eq!(micros("nrf52833", Operation::EcdsaVerify(curve)), 482_812);
    assert_eq!(micros("cc1352r", Operation::EcdsaVerify(curve)), 643_750);
    assert_eq!(micros("efr32mg24", Operation::EcdsaSign(curve)), 6_392);
    // 16.711 million cycles at 72 MHz.
    assert_eq!(micros("iotlab-m3", Operation::EcdsaVerify(curve)), 232_097);
}

/// By hand, from what `firmware/measure --prices` prints: GHASH of 16 and of 96 octets, 1,595 and 8,255 instructions of a
/// Cortex-M3, 37,216 and 216,706 cycles of an AVR.
#[test]
fn ghash_takes_what_was_counted() {
    let gcm = |octets| Aead { mode: AeadMode::Gcm, key_bits: 128, tag: 16, octets, additional: 13 };
    for (name, us) in [
        ("nrf52840", (8_255.0 - 1_595.0) / 5.0 * 1.7 / 64.0),
        ("nrf52833", (8_255.0 - 1_595.0) / 5.0 * 1.7 / 64.0),
        ("nrf5340", (8_255.0 - 1_595.0) / 5.0 * 1.7 / 64.0),
        ("nrf54l15", (8_255.0 - 1_595.0) / 5.0 * 1.7 / 128.0),
        ("cc1352r", (8_255.0 - 1_595.0) / 5.0 * 1.7 / 48.0),
        ("esp32-c6", (8_255.0 - 1_595.0) / 5.0 * 1.7 / 160.0),
        ("esp32-h2", (8_255.0 - 1_595.0) / 5.0 * 1.7 / 96.0),
        ("iotlab-m3", (8_255.0 - 1_595.0) / 5.0 * 1.7 / 72.0),
        ("openmote-cc2538", (8_255.0 - 1_595.0) / 5.0 * 1.7 / 32.0),
        ("greennet", (8_255.0 - 1_595.0) / 5.0 * 1.7 / 32.0),
        ("opal-tpm", (8_255.0 - 1_595.0) / 5.0 * 1.7 / 48.0),
        // Half the cycles on 16 bits.
        ("wismote", (216_706.0 - 37_216.0) / 5.0 / 2.0 / 12.0),
        ("telosb", (216_706.0 - 37_216.0) / 5.0 / 2.0 / 8.0),
        ("atmega128rfa1", (216_706.0 - 37_216.0) / 5.0 / 16.0),
    ] {
        // Five more blocks of plaintext are five of AES and five of GHASH.
        let device = device(name);
        let [long, short] = [96, 16].map(|octets| device.duration(Operation::Seal(gcm(octets))).unwrap());
        let ghash = (long - short).as_secs_f64() * 1e6 / 5.0 - device.aes_us().unwrap();
        assert!((ghash / us - 1.0).abs() < 0.005, "{name}: {ghash} against {us} us");
    }
}

/// A text of spaces is no source: `\\S` is a character that is none.
#[test]
fn the_schema_asks_for_a_source_with_text() {
    let schema = schema();
    for kind in ["Constant from 0 to 1000", "Time from 0 to 1000000000"] {
        let properties = &schema.get("$defs").unwrap()[kind]["properties"];
        for key in ["source", "assumed"] {
            assert_eq!((&properties[key]["type"], &properties[key]["pattern"]), (&json!("string"), &json!("\\S")));
        }
    }
}

#[test]
fn an_unknown_device_is_told_which_there_are() {
    let error = Device::load("openmote", Path::new("")).unwrap_err().to_string();
    assert!(error.contains("found \"openmote\"") && error.contains("\"wismote\""), "{error}");
}
