//! The numbers of each profile, and where they were read: each project at its default configuration. All numbers of the
//! profiles are here.

use slowhand_net::clock::Duration;

use super::{CsmaNumbers, Dis, JoinNumbers, LowpanNumbers, Numbers, Sourced, Timer, TschNumbers, WhenFull};
use crate::input::{Factor, Integer, PositiveSeconds, Probability, Seconds};

/// A number of a project, and where it was read.
const fn at<T>(value: T, source: &'static str) -> Sourced<T> {
    Sourced { value, source }
}

/// A whole number, and where it was read.
const fn number<const MIN: u32, const MAX: u32>(value: u32, source: &'static str) -> Sourced<Integer<MIN, MAX>> {
    at(Integer::constant(value), source)
}

/// The octets of all packets in reassembly.
const fn octets(value: u32, source: &'static str) -> Sourced<Option<Integer<1, 4_294_967_295>>> {
    at(Some(Integer::constant(value)), source)
}

const fn milliseconds(value: u64, source: &'static str) -> Sourced<PositiveSeconds> {
    at(PositiveSeconds::of(Duration::from_millis(value)), source)
}

/// TSCH of the standards, for projects without one.
pub(super) const RFC_TSCH: TschNumbers = TschNumbers {
    max_retries: number(3, "RFC 8180 section 4.3"),
    min_be: number(3, "assumed: macMinBE of CSMA-CA, IEEE 802.15.4-2006 table 86"),
    max_be: number(5, "assumed: macMaxBE of CSMA-CA, IEEE 802.15.4-2006 table 86"),
    queue: number(20, "assumed: no standard says it; as in OpenWSN"),
};

/// CSMA-CA of the standards, for projects without one.
pub(super) const RFC_CSMA: CsmaNumbers = CsmaNumbers {
    min_be: number(3, "macMinBE, IEEE 802.15.4-2006 table 86"),
    max_be: number(5, "macMaxBE, IEEE 802.15.4-2006 table 86"),
    max_csma_backoffs: number(4, "macMaxCSMABackoffs, IEEE 802.15.4-2006 table 86"),
    max_retries: number(3, "macMaxFrameRetries, IEEE 802.15.4-2006 table 86"),
    retry_max_be: number(0, "IEEE 802.15.4-2006 section 7.5.6.5: no delay but the back-off"),
    retries_busy_channel: at(false, "IEEE 802.15.4-2006 section 7.5.1.4: channel access failure"),
    queue: number(44, "assumed: no standard says it; as in OpenThread"),
};

const fn seconds(value: f64, source: &'static str) -> Sourced<Seconds> {
    at(Seconds::constant(value), source)
}

const fn period(value: f64, source: &'static str) -> Sourced<PositiveSeconds> {
    at(PositiveSeconds::constant(value), source)
}

const fn probability(value: f64, source: &'static str) -> Sourced<Probability> {
    at(Probability::constant(value), source)
}

const UNUSED_TRICKLE: &str = "assumed: the default of RFC 6550 section 17, not used where dio_probability says when";

/// Joining by the standards.
pub(super) const RFC_JOIN: JoinNumbers = JoinNumbers {
    channel_s: period(
        1.0,
        "assumed: no standard says it; as in Contiki-NG (os/net/mac/tsch/tsch-conf.h TSCH_CHANNEL_SCAN_DURATION)",
    ),
    beacon_probability: probability(
        0.33,
        "assumed: no standard says it; as in the 6TiSCH simulator (bin/config.json tsch_probBcast_ebProb)",
    ),
    beacons_shared: at(
        true,
        "assumed: no standard says it; as in the 6TiSCH simulator (Mote/tsch.py _decided_to_send_eb)",
    ),
    beacon_sources: number(2, "RFC 8180, NUM_NEIGHBOURS_TO_WAIT, which it says MAY be used"),
    beacon_wait_s: seconds(180.0, "RFC 8180, MAX_EB_DELAY, which it says MAY be used"),
    first_request_s: seconds(0.0, "RFC 9031 section 4.3: when it has synchronised"),
    confirmable: at(true, "RFC 9031 section 8.1.1"),
    timeout_s: period(10.0, "RFC 9031 section 7.2, ACK_TIMEOUT"),
    timeout_random_factor: at(Factor::constant(1.5), "RFC 9031 section 7.2, ACK_RANDOM_FACTOR"),
    timeout_doubles: at(true, "RFC 7252 section 4.2"),
    retries: number(4, "RFC 9031 section 7.2, MAX_RETRANSMIT"),
    dis: at(Dis::Multicast, "RFC 6550 section 8.3"),
    dis_period_s: period(
        60.0,
        "assumed: no standard says it; as in the 6TiSCH simulator (Mote/rpl.py DEFAULT_DIS_INTERVAL_SECONDS)",
    ),
    dio_probability: probability(0.0, "RFC 6550 section 8.3.1: Trickle"),
    dio_interval_min: number(3, "RFC 6550 section 17, DEFAULT_DIO_INTERVAL_MIN"),
    dio_doublings: number(20, "RFC 6550 section 17, DEFAULT_DIO_INTERVAL_DOUBLINGS"),
    dio_redundancy: number(10, "RFC 6550 section 17, DEFAULT_DIO_REDUNDANCY_CONSTANT"),
    dao_probability: probability(0.0, "RFC 6550 section 9.5: a delay"),
    dao_delay_s: seconds(1.0, "RFC 6550 section 17, DEFAULT_DAO_DELAY"),
    dao_period_s: period(
        60.0,
        "assumed: no standard says it; as in the 6TiSCH simulator (bin/config.json rpl_daoPeriod)",
    ),
};

/// Joining in OpenWSN.
const OPENWSN_JOIN: JoinNumbers = JoinNumbers {
    channel_s: period(3.2, "openstack/02a-MAClow/IEEE802154E.c:637: 160 slots of 20 ms"),
    beacon_probability: probability(0.1, "openstack/02b-MAChigh/sixtop.c:660, IEEE802154E.h:46 EB_PORTION"),
    beacons_shared: at(false, "openstack/02b-MAChigh/sixtop.c:660"),
    beacon_sources: number(1, "openstack/02a-MAClow/IEEE802154E.c activity_synchronize_endOfFrame: the first beacon"),
    beacon_wait_s: seconds(0.0, "openstack/02a-MAClow/IEEE802154E.c activity_synchronize_endOfFrame"),
    first_request_s: seconds(65.535, "openapps/cjoin/cjoin.c cjoin_schedule"),
    confirmable: at(false, "openapps/cjoin/cjoin.c cjoin_sendJoinRequest: COAP_TYPE_NON"),
    timeout_s: period(60.0, "openapps/cjoin/cjoin.c:27 TIMEOUT"),
    timeout_random_factor: at(Factor::constant(1.0), "openapps/cjoin/cjoin.c cjoin_retransmission_cb"),
    timeout_doubles: at(false, "openapps/cjoin/cjoin.c cjoin_retransmission_cb"),
    retries: number(65_535, "openapps/cjoin/cjoin.c cjoin_retransmission_cb: it goes on for ever"),
    dis: at(Dis::None, "openstack/03b-IPv6/icmpv6rpl.c: it sends none"),
    dis_period_s: period(60.0, "assumed: not used without a DIS"),
    dio_probability: probability(0.1, "openstack/03b-IPv6/icmpv6rpl.c:19 DIO_PORTION"),
    dio_interval_min: number(3, UNUSED_TRICKLE),
    dio_doublings: number(20, UNUSED_TRICKLE),
    dio_redundancy: number(10, UNUSED_TRICKLE),
    dao_probability: probability(1.0 / 60.0, "openstack/03b-IPv6/icmpv6rpl.c:20 DAO_PORTION"),
    dao_delay_s: seconds(1.0, "assumed: not used where dao_probability says when"),
    dao_period_s: period(60.0, "assumed: not used where dao_probability says when"),
};

const OPENWSN_TSCH: TschNumbers = TschNumbers {
    max_retries: number(15, "openstack/02a-MAClow/IEEE802154E.h:42 TXRETRIES"),
    min_be: number(2, "openstack/02b-MAChigh/schedule.h:82 MINBE"),
    max_be: number(5, "openstack/02b-MAChigh/schedule.h:89 MAXBE"),
    queue: number(20, "inc/config.h:364 PACKETQUEUE_LENGTH"),
};

pub(super) const CONTIKI_NG: Numbers = Numbers {
    version: "contiki-ng/contiki-ng at 9f80681d (release 5.0)",
    lowpan: LowpanNumbers {
        reassembly_buffers: number(2, "os/net/ipv6/sicslowpan.c:223 SICSLOWPAN_REASS_CONTEXTS"),
        reassembly_buffer_octets: number(1280, "os/contiki-default-conf.h:85 UIP_CONF_BUFFER_SIZE"),
        reassembly_octets: octets(
            2 * 148 + 12 * 110,
            "os/net/ipv6/sicslowpan.c:240, 212, 231: a first fragment of 148 octets for each of the two, and 12 buffers of \
             110 for all others",
        ),
        reassembly_timeout_s: milliseconds(
            500,
            "os/net/ipv6/uipopt.h:439 SICSLOWPAN_REASS_MAXAGE 8, which sicslowpan.c:371 takes in sixteenths of a second",
        ),
        reassembly_timer: at(
            Timer::OnDemand,
            "os/net/ipv6/sicslowpan.c:349 add_fragment, which alone looks at the timer",
        ),
        reassembly_when_full: at(WhenFull::Refuse, "os/net/ipv6/sicslowpan.c:361 add_fragment"),
        whole_datagrams: at(
            true,
            "os/net/ipv6/sicslowpan.c:1741 output. It keeps one more buffer in reserve, which is not modelled",
        ),
    },
    tsch: Some(TschNumbers {
        max_retries: number(7, "os/net/mac/tsch/tsch-conf.h:405 TSCH_MAC_MAX_FRAME_RETRIES"),
        min_be: number(1, "os/net/mac/tsch/tsch-conf.h:386 TSCH_MAC_MIN_BE"),
        max_be: number(5, "os/net/mac/tsch/tsch-conf.h:393 TSCH_MAC_MAX_BE"),
        queue: number(8, "os/contiki-default-conf.h:59 QUEUEBUF_CONF_NUM"),
    }),
    csma: Some(CsmaNumbers {
        min_be: number(3, "os/net/mac/csma/csma-output.c:67 CSMA_MIN_BE"),
        max_be: number(5, "os/net/mac/csma/csma-output.c:74 CSMA_MAX_BE"),
        max_csma_backoffs: number(5, "os/net/mac/csma/csma-output.c:81 CSMA_MAX_BACKOFF"),
        max_retries: number(7, "os/net/mac/csma/csma-output.c:88 CSMA_MAX_FRAME_RETRIES"),
        retry_max_be: number(0, "os/net/mac/csma/csma-output.c schedule_transmission: no delay but the back-off"),
        retries_busy_channel: at(true, "os/net/mac/csma/csma-output.c:368 collision"),
        queue: number(8, "os/contiki-default-conf.h:59 QUEUEBUF_CONF_NUM"),
    }),
    join: None,
};

pub(super) const OPENTHREAD: Numbers = Numbers {
    version: "openthread/openthread, API version 522 (main branch of 2025)",
    lowpan: LowpanNumbers {
        reassembly_buffers: number(
            44,
            "src/core/config/misc.h:200 OPENTHREAD_CONFIG_NUM_MESSAGE_BUFFERS: no other limit of their number",
        ),
        reassembly_buffer_octets: number(1280, "src/core/net/ip6.hpp kMaxDatagramLength"),
        reassembly_octets: octets(
            44 * 124,
            "src/core/config/misc.h:200, 218: 44 message buffers of 128 octets, 4 of them a pointer (common/message.hpp:249). \
             Assumed: frames that wait to be sent, which share the pool, count apart",
        ),
        reassembly_timeout_s: milliseconds(
            2_000,
            "src/core/config/mesh_forwarder.h:69 OPENTHREAD_CONFIG_6LOWPAN_REASSEMBLY_TIMEOUT",
        ),
        reassembly_timer: at(Timer::EachFragment, "src/core/thread/mesh_forwarder.cpp:1499 HandleFragment"),
        reassembly_when_full: at(
            WhenFull::Refuse,
            "src/core/thread/mesh_forwarder_ftd.cpp:200 EvictMessage: never one in reassembly",
        ),
        whole_datagrams: at(
            true,
            "src/core/thread/mesh_forwarder.cpp:728: datagrams wait whole, and are cut into frames when these are sent. Assumed: \
             one that has no room in `mac.queue` now is refused",
        ),
    },
    tsch: None,
    csma: Some(CsmaNumbers {
        min_be: number(3, "src/core/mac/sub_mac.hpp:526 kCsmaMinBe"),
        max_be: number(5, "src/core/mac/sub_mac.hpp:527 kCsmaMaxBe"),
        max_csma_backoffs: number(4, "src/core/config/mac.h:57 OPENTHREAD_CONFIG_MAC_MAX_CSMA_BACKOFFS_DIRECT"),
        max_retries: number(15, "src/core/config/mac.h:79 OPENTHREAD_CONFIG_MAC_DEFAULT_MAX_FRAME_RETRIES_DIRECT"),
        retry_max_be: number(5, "src/core/config/mac.h OPENTHREAD_CONFIG_MAC_RETX_DELAY_MAX_BACKOFF_EXPONENT"),
        retries_busy_channel: at(true, "src/core/mac/sub_mac.cpp HandleTransmitDone"),
        queue: number(44, "src/core/config/misc.h:200 OPENTHREAD_CONFIG_NUM_MESSAGE_BUFFERS, about a frame each"),
    }),
    join: None,
};

pub(super) const RIOT: Numbers = Numbers {
    version: "RIOT-OS/RIOT at c8bd52ff (2026.10-devel)",
    lowpan: LowpanNumbers {
        reassembly_buffers: number(
            4,
            "sys/include/net/gnrc/sixlowpan/config.h:81 CONFIG_GNRC_SIXLOWPAN_FRAG_RBUF_SIZE",
        ),
        reassembly_buffer_octets: number(1280, "RFC 8200 section 5: gnrc_ipv6 takes no longer ones by default"),
        reassembly_octets: octets(
            6_144,
            "sys/include/net/gnrc/pktbuf.h:79 CONFIG_GNRC_PKTBUF_SIZE. Assumed: what waits to be sent, which shares it, counts \
             apart",
        ),
        reassembly_timeout_s: milliseconds(
            3_000,
            "sys/include/net/gnrc/sixlowpan/config.h:91 CONFIG_GNRC_SIXLOWPAN_FRAG_RBUF_TIMEOUT_US",
        ),
        reassembly_timer: at(
            Timer::EachFragment,
            "sys/net/gnrc/network_layer/sixlowpan/frag/rb/gnrc_sixlowpan_frag_rb.c:653 _rbuf_get",
        ),
        reassembly_when_full: at(
            WhenFull::Oldest,
            "sys/net/gnrc/network_layer/sixlowpan/frag/rb/gnrc_sixlowpan_frag_rb.c:680 _rbuf_get",
        ),
        whole_datagrams: at(
            true,
            "sys/net/gnrc/network_layer/sixlowpan/frag/gnrc_sixlowpan_frag.c:295: the next fragment is made when the one before was \
             taken. Assumed: a datagram that has no room in `mac.queue` now is refused",
        ),
    },
    tsch: None,
    csma: Some(CsmaNumbers {
        min_be: number(3, "sys/include/net/ieee802154.h:411 CONFIG_IEEE802154_DEFAULT_CSMA_CA_MIN_BE"),
        max_be: number(5, "sys/include/net/ieee802154.h:425 CONFIG_IEEE802154_DEFAULT_CSMA_CA_MAX_BE"),
        max_csma_backoffs: number(4, "sys/include/net/ieee802154.h:418 CONFIG_IEEE802154_DEFAULT_CSMA_CA_RETRIES"),
        max_retries: number(4, "sys/include/net/ieee802154.h:439 CONFIG_IEEE802154_DEFAULT_MAX_FRAME_RETRANS"),
        retry_max_be: number(0, "sys/net/link_layer/ieee802154/submac.c: no delay but the back-off"),
        retries_busy_channel: at(false, "sys/net/link_layer/ieee802154/submac.c:352"),
        queue: number(16, "sys/include/net/gnrc/netif/conf.h:63 CONFIG_GNRC_NETIF_PKTQ_POOL_SIZE"),
    }),
    join: None,
};

pub(super) const ZEPHYR: Numbers = Numbers {
    version: "zephyrproject-rtos/zephyr: Kconfig files at 0b6e4bc6, 1714a888 and 00cafdab, fragments at 06758ff2",
    lowpan: LowpanNumbers {
        reassembly_buffers: number(1, "subsys/net/l2/ieee802154/Kconfig NET_L2_IEEE802154_FRAGMENT_REASS_CACHE_SIZE"),
        reassembly_buffer_octets: number(1280, "RFC 8200 section 5: the MTU of the interface"),
        reassembly_octets: octets(
            16 * 128,
            "subsys/net/ip/Kconfig NET_BUF_RX_COUNT, NET_BUF_DATA_SIZE. Assumed: with the memory of fragment headers",
        ),
        reassembly_timeout_s: milliseconds(
            5_000,
            "subsys/net/l2/ieee802154/Kconfig NET_L2_IEEE802154_REASSEMBLY_TIMEOUT",
        ),
        reassembly_timer: at(
            Timer::FirstFragment,
            "subsys/net/l2/ieee802154/ieee802154_6lo_fragment.c set_reass_cache",
        ),
        reassembly_when_full: at(
            WhenFull::Refuse,
            "subsys/net/l2/ieee802154/ieee802154_6lo_fragment.c fragment_add_to_cache",
        ),
        whole_datagrams: at(
            true,
            "subsys/net/l2/ieee802154/ieee802154.c ieee802154_send: the next fragment is made when the one before was sent. Assumed: \
             a datagram that has no room in `mac.queue` now is refused",
        ),
    },
    tsch: None,
    csma: Some(CsmaNumbers {
        min_be: number(3, "subsys/net/l2/ieee802154/Kconfig.radio NET_L2_IEEE802154_RADIO_CSMA_CA_MIN_BE"),
        max_be: number(5, "subsys/net/l2/ieee802154/Kconfig.radio NET_L2_IEEE802154_RADIO_CSMA_CA_MAX_BE"),
        max_csma_backoffs: number(4, "subsys/net/l2/ieee802154/Kconfig.radio NET_L2_IEEE802154_RADIO_CSMA_CA_MAX_BO"),
        max_retries: number(3, "subsys/net/l2/ieee802154/Kconfig.radio NET_L2_IEEE802154_RADIO_TX_RETRIES"),
        retry_max_be: number(
            0,
            "subsys/net/l2/ieee802154/ieee802154.c ieee802154_radio_send: no delay but the back-off",
        ),
        retries_busy_channel: at(false, "subsys/net/l2/ieee802154/ieee802154.c ieee802154_radio_send"),
        queue: number(16, "subsys/net/ip/Kconfig NET_BUF_TX_COUNT: buffers of 128 octets, about a frame each"),
    }),
    join: None,
};

pub(super) const OPENWSN: Numbers = Numbers {
    version: "openwsn-berkeley/openwsn-fw at 7ee5f203 (2021)",
    lowpan: LowpanNumbers {
        reassembly_buffers: number(
            4,
            "openstack/03a-IPHC/frag.h:35 NUM_OF_CONCURRENT_TIMERS: each takes a timer. A complete one also takes one of two big \
             packets, for a moment",
        ),
        reassembly_buffer_octets: number(1320, "inc/config.h:256 MAX_PKTSIZE_SUPPORTED"),
        reassembly_octets: octets(
            20 * 80,
            "inc/config.h:364 PACKETQUEUE_LENGTH, openstack/03a-IPHC/frag.h:31 MAX_FRAGMENT_SIZE: a packet for each fragment. \
             Assumed: what waits to be sent, which shares them, counts apart",
        ),
        reassembly_timeout_s: milliseconds(60_000, "openstack/03a-IPHC/frag.h:46 FRAG_REASSEMBLY_TIMEOUT"),
        reassembly_timer: at(Timer::FirstFragment, "openstack/03a-IPHC/frag.c:471 store_fragment"),
        reassembly_when_full: at(WhenFull::Refuse, "openstack/03a-IPHC/frag.c:485, 521 store_fragment"),
        whole_datagrams: at(true, "openstack/03a-IPHC/frag.c:111 frag_fragment6LoPacket"),
    },
    tsch: Some(OPENWSN_TSCH),
    csma: None,
    join: Some(OPENWSN_JOIN),
};

pub(super) const RFC: Numbers = Numbers {
    version: "RFC 4944, RFC 8180, RFC 8200, IEEE 802.15.4-2006",
    lowpan: LowpanNumbers {
        reassembly_buffers: number(2, "assumed: no standard says it; as in Contiki-NG"),
        reassembly_buffer_octets: number(1280, "RFC 8200 section 5: the minimum MTU of IPv6"),
        reassembly_octets: at(None, "assumed: each buffer has its own"),
        reassembly_timeout_s: milliseconds(60_000, "RFC 4944 section 5.3: at most this"),
        reassembly_timer: at(Timer::FirstFragment, "RFC 4944 section 5.3"),
        reassembly_when_full: at(WhenFull::Refuse, "assumed: no standard says it"),
        whole_datagrams: at(true, "assumed: no standard says it; as in all of these projects"),
    },
    tsch: Some(RFC_TSCH),
    csma: Some(RFC_CSMA),
    join: Some(RFC_JOIN),
};
