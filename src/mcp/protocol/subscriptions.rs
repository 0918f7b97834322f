//! Subscriptions to resources: one at a time in a session, or a list in a request that stays open.
//!
//! Each followed task has a thread; without subscriptions there is none.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::ErrorData;
use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, RequestContext, RoleServer, SubscriptionContext};
use tokio::sync::mpsc;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::mcp::protocol::dispatch::protocol_error;
use crate::mcp::protocol::follow_tasks::{self, Followers, Trail, Wanted};
use crate::mcp::protocol::resource_address::{Address, Subject};
use crate::mcp::protocol::resources::unknown;
use crate::mcp::protocol::server::Server;
use crate::mcp::protocol::server_state::Shared;

/// The most tasks that one server follows at a time.
const MOST: usize = 64;
/// The most resources that one request can name.
const MOST_NAMED: usize = 1024;
/// Changes buffered for a slow client.
const BACKLOG: usize = 64;

/// What a session follows. Dropping it ends every subscription.
#[derive(Clone)]
pub(crate) struct Subscriptions {
    shared: Shared,
    room: Arc<Semaphore>,
    followed: Arc<Mutex<BTreeMap<Subject, Followed>>>,
}

struct Followed {
    followers: Followers,
    _unwanted: DropGuard,
}

impl Subscriptions {
    pub(crate) fn new(shared: Shared) -> Self {
        Self { shared, room: Arc::new(Semaphore::new(MOST)), followed: Arc::default() }
    }

    fn room(&self) -> Result<Room, ErrorData> {
        let own = self.room.clone().try_acquire_owned().map_err(|_| {
            let message = format!("{MOST} tasks are already followed; unsubscribe from one of them first");
            ErrorData::invalid_params(message, None)
        })?;
        let place = self.shared.place();
        let message = "too many calls are waiting; try again later";
        place.map(|place| (own, place)).ok_or_else(|| ErrorData::internal_error(message, None))
    }

    fn add(&self, trail: Trail, peer: Peer<RoleServer>, gone: &CancellationToken) -> Result<(), ErrorData> {
        let (subject, followers) = (trail.subject(), trail.followers.clone());
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        followed.retain(|_, one| !one.followers.is_over());
        if followed.get(&subject).is_some_and(|one| one.followers.join(&followers)) {
            return Ok(());
        }
        let room = self.room()?;
        let unwanted = gone.child_token();
        let (tell, told) = mpsc::channel(BACKLOG);
        start(room, trail, tell, unwanted.clone());
        tokio::spawn(pass_on(told, peer, unwanted.clone()));
        followed.insert(subject, Followed { followers, _unwanted: unwanted.drop_guard() });
        Ok(())
    }

    fn remove(&self, uri: &str) {
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        followed.retain(|_, one| !one.followers.leave(uri));
    }
}

/// The limits of this session and of the process.
type Room = (OwnedSemaphorePermit, OwnedSemaphorePermit);

fn start(room: Room, trail: Trail, tell: Sender<String>, unwanted: CancellationToken) {
    tokio::task::spawn_blocking(move || {
        trail.follow(&tell, &unwanted);
        drop(room);
    });
}

async fn pass_on(mut told: Receiver<String>, peer: Peer<RoleServer>, unwanted: CancellationToken) {
    let passed_on = async {
        while let Some(uri) = told.recv().await {
            if peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await.is_err() {
                return;
            }
        }
    };
    unwanted.run_until_cancelled(passed_on).await;
}

/// The part of the request that can be followed. Changes to the lists of tools, prompts and resources are not
/// announced: they never change, and a project's tasks are a resource of their own.
pub(crate) fn acceptable(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let named = requested.resource_subscriptions.iter().flatten();
    let ours = named.filter(|uri| Address::parse(uri).is_some()).take(MOST_NAMED);
    SubscriptionFilter::builder().resource_subscriptions(ours.cloned()).build()
}

impl Server {
    /// Follows `uri` for this session.
    pub(crate) async fn follow(
        &self,
        uri: String,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let Address { subject, artifact } = Address::parse(&uri).ok_or_else(|| unknown(&uri))?;
        let wanted = vec![(uri, artifact)];
        match self.open(&context, subject, wanted).await? {
            Some(trail) => self.subscriptions.add(trail, context.peer, &self.gone),
            None => Ok(()),
        }
    }

    pub(crate) fn unfollow(&self, uri: &str) -> Result<(), ErrorData> {
        Address::parse(uri).ok_or_else(|| unknown(uri))?;
        self.subscriptions.remove(uri);
        Ok(())
    }

    /// Follows the resources of a request for as long as it stays open.
    pub(crate) async fn attend(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let unwanted = self.gone.child_token();
        let _unwanted = unwanted.clone().drop_guard();
        let (tell, mut told) = mpsc::channel(BACKLOG);
        let (mut known, mut missing, mut over) = (false, None, Vec::new());
        for (subject, wanted) in by_subject(context.accepted()) {
            let room = self.subscriptions.room()?;
            let named: Vec<String> = wanted.iter().map(|(uri, _)| uri.clone()).collect();
            match self.open(context.request_context(), subject, wanted).await {
                Ok(trail) => {
                    known = true;
                    match trail {
                        Some(trail) => start(room, trail, tell.clone(), unwanted.clone()),
                        // The change may be from after the acknowledgement.
                        None => over.extend(named),
                    }
                }
                // A resource that does not exist must not prevent following the others.
                Err(error) => missing = Some(error),
            }
        }
        if let Some(error) = missing.filter(|_| !known) {
            return Err(error);
        }
        let passed_on = async {
            for uri in over {
                if context.sink().notify_resource_updated(uri).await.is_err() {
                    return;
                }
            }
            // Never `None`, because this request holds a sender itself.
            while let Some(uri) = told.recv().await {
                if context.sink().notify_resource_updated(uri).await.is_err() {
                    return;
                }
            }
        };
        tokio::select! {
            () = context.cancelled() => {}
            () = self.gone.cancelled() => {}
            () = passed_on => {}
        }
        drop(tell);
        Ok(())
    }

    async fn open(
        &self,
        context: &RequestContext<RoleServer>,
        subject: Subject,
        wanted: Vec<Wanted>,
    ) -> Result<Option<Trail>, ErrorData> {
        self.run(context, move |incoming| follow_tasks::open(incoming, &subject, wanted))
            .await
            .map_err(protocol_error)?
    }
}

fn by_subject(accepted: &SubscriptionFilter) -> BTreeMap<Subject, Vec<Wanted>> {
    let mut subjects: BTreeMap<Subject, Vec<Wanted>> = BTreeMap::new();
    for uri in accepted.resource_subscriptions.iter().flatten() {
        if let Some(Address { subject, artifact }) = Address::parse(uri) {
            subjects.entry(subject).or_default().push((uri.clone(), artifact));
        }
    }
    subjects
}
