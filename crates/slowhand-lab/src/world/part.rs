//! The part of a conversation in an attempt of its client: all of it, or one of the steps with a delegate.

use crate::ids::ConversationId;
use crate::plan::Plan;
use slowhand_net::address::{Host, NodeId};
use slowhand_sessions::Protocol;

/// The part of a conversation in an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it: nobody helps.
    Whole,
    /// The client asks its delegate. Then there is the conversation in which the delegate opens the session.
    HandOver { delegated: Option<ConversationId> },
    /// The delegate opens the session that this other conversation asks for.
    Delegated { hand_over: ConversationId },
    /// The client resumes the session that this other conversation has given to it.
    Resumed { hand_over: ConversationId },
}

impl Part {
    pub(super) const fn is_hand_over(self) -> bool {
        matches!(self, Self::HandOver { .. })
    }

    pub(super) const fn is_delegated(self) -> bool {
        matches!(self, Self::Delegated { .. })
    }

    /// The protocol of its datagrams.
    pub(super) fn protocol(self, plan: &Plan) -> Protocol {
        if self.is_hand_over() { Plan::HAND_OVER } else { plan.protocol() }
    }

    /// Where its ends are.
    pub(super) fn hosts(self, plan: &Plan, client: NodeId) -> [Host; 2] {
        let [node, server] = plan.hosts(client);
        let delegate = plan.delegation().map_or(server, |delegation| delegation.host);
        match self {
            Self::Whole | Self::Resumed { .. } => [node, server],
            Self::HandOver { .. } => [node, delegate],
            Self::Delegated { .. } => [delegate, server],
        }
    }
}
