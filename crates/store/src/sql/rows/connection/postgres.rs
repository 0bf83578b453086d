//! Connections to PostgreSQL. The calling thread drives a connection's runtime, so no other thread has
//! to be woken for each response.
//!
//! A flight of statements is sent at once, and the server answers in order: a read with the beginning
//! and the end of its transaction takes one round trip.
//!
//! Invariant: the tenant is set in the database before the first statement of a transaction. If a
//! transaction does not begin, the statements sent behind its beginning change nothing.

use super::super::EntityStoreError;
use super::super::dialect::{TRANSACTION_TIMEOUT, TransactionMode};
use super::super::error::{not_opened, timed_out};
use super::super::statement::{Statement, UnboundStatement};
use super::super::value::{Row, SqlValue};
use super::server::PostgresOptions;
use super::sql_connection::{LOCK_TIMEOUT, MAX_PREPARED, SqlConnection};
use super::tls::{ServerStream, secure};
use crate::tenant::Tenant;
use futures_util::TryStreamExt;
use futures_util::future::maybe_done;
use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use tokio::net::{TcpStream, UnixStream};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_postgres::types::{FromSql, ToSql, Type};
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

/// The time limit of a statement.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(10);
/// The time after which a server aborts an idle transaction and releases its locks.
const IDLE_TIMEOUT: Duration = Duration::from_secs(3);
/// The time limit for telling a server that a connection closes.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Compresses texts with lz4 if the server supports it: the default method takes a tenth of an edit's
/// time.
const FAST_COMPRESSION: &str = "SELECT set_config(name, 'lz4', false) FROM pg_settings
    WHERE name = 'default_toast_compression' AND 'lz4' = ANY(enumvals)";

/// An open connection.
pub struct PostgresConnection {
    session: Session,
    /// Sends what the session queues, and receives.
    driver: JoinHandle<()>,
    /// The beginning of a transaction, which is sent with its first statement.
    begin: Option<(&'static str, Statement)>,
    /// When the time limit of the transaction ends.
    deadline: Option<Instant>,
    // Dropped last: the driver is registered in it.
    runtime: LocalRuntime,
}

impl PostgresConnection {
    /// Connects within a time limit.
    pub fn open(options: &PostgresOptions, limit: Duration) -> Result<PostgresConnection, EntityStoreError> {
        let runtime = LocalRuntime::new()?;
        let (session, driver) = runtime.block_on(async {
            timeout(limit, connect(options)).await.unwrap_or_else(|_| {
                Err(EntityStoreError::Unreachable("timed out waiting for a database connection".to_owned()))
            })
        })?;
        Ok(PostgresConnection { session, driver, begin: None, deadline: None, runtime })
    }
}

impl SqlConnection for PostgresConnection {
    fn begin(&mut self, tenant: &Tenant, mode: TransactionMode<'_>) -> Result<(), EntityStoreError> {
        let begin = match mode {
            // All reads see one snapshot.
            TransactionMode::Read | TransactionMode::Search(_) => {
                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
            }
            TransactionMode::Write(_) => self.session.begin_write,
        };
        self.begin = Some((begin, settings(tenant, mode)));
        self.deadline = Some(Instant::now() + TRANSACTION_TIMEOUT);
        Ok(())
    }

    fn run(&mut self, statements: &[Statement], script: &str) -> Result<Vec<Vec<Row>>, EntityStoreError> {
        let PostgresConnection { session, begin, deadline, runtime, .. } = self;
        let (begin, settings) = begin.take().unzip();
        let mut calls: Vec<Call<'_>> = begin.into_iter().map(Call::Script).collect();
        calls.extend(settings.iter().chain(statements).map(Call::Query));
        calls.extend(Some(script).filter(|script| !script.is_empty()).map(Call::Script));
        let work = session.send(&calls);
        let results = runtime.block_on(async {
            match *deadline {
                Some(deadline) => timeout_at(deadline, work).await.unwrap_or_else(|_| Err(timed_out())),
                None => work.await,
            }
        })?;
        Ok(results.into_iter().skip(2 * usize::from(begin.is_some())).take(statements.len()).collect())
    }

    fn close(self: Box<Self>) {
        let PostgresConnection { session, driver, runtime, .. } = *self;
        drop(session);
        // A failure here does not matter.
        let _ = runtime.block_on(async {
            drop(timeout(CLOSE_TIMEOUT, driver).await);
            Ok(())
        });
    }
}

/// Sets the tenant for row-level security, and what else a transaction needs.
fn settings(tenant: &Tenant, mode: TransactionMode<'_>) -> Statement {
    let scope = match tenant {
        Tenant::Global => UnboundStatement::new("SELECT set_config('lockgate.organization', '', true)"),
        Tenant::Organization(name) => UnboundStatement::new("SELECT set_config('lockgate.organization', ")
            .bind(name.as_str())
            .push(", true)"),
        Tenant::All => UnboundStatement::new("SELECT set_config('lockgate.everybody', 'on', true)"),
    };
    let settings = match mode {
        TransactionMode::Read => scope,
        // Here a comparison scans a whole text, which costs more than an index lookup.
        TransactionMode::Search(needle) => scope
            .push(", set_config('cpu_operator_cost', '0.25', true), set_config('lockgate.needle', ")
            .bind(needle)
            .push(", true)"),
        TransactionMode::Write(edit) => scope.push(", pg_advisory_xact_lock(").bind(edit).push(")"),
    };
    settings.without_scope()
}

/// A message to the server.
#[derive(Clone, Copy)]
enum Call<'c> {
    Script(&'c str),
    Query(&'c Statement),
}

/// The client of a connection, and the statements prepared there by their texts.
struct Session {
    client: Client,
    prepared: HashMap<String, tokio_postgres::Statement>,
    /// Begins a transaction that may write.
    begin_write: &'static str,
}

impl Session {
    /// Sends all calls in one flight and returns the rows of each; before that, prepares the statements
    /// that are used for the first time.
    async fn send(&mut self, calls: &[Call<'_>]) -> Result<Vec<Vec<Row>>, EntityStoreError> {
        let mut new: Vec<&Statement> = Vec::new();
        for call in calls {
            if let Call::Query(statement) = call
                && statement.is_persistent
                && self.prepared.len() + new.len() < MAX_PREPARED
                && !self.prepared.contains_key(statement.text())
                && new.iter().all(|new| new.text() != statement.text())
            {
                new.push(statement);
            }
        }
        if !new.is_empty() {
            let prepared = in_one_flight(new.iter().map(|statement| self.prepare(statement))).await?;
            self.prepared.extend(new.iter().map(|statement| statement.text().to_owned()).zip(prepared));
        }
        Ok(in_one_flight(calls.iter().map(|call| self.call(*call))).await?)
    }

    async fn prepare(
        &self,
        statement: &Statement,
    ) -> Result<tokio_postgres::Statement, tokio_postgres::Error> {
        let types: Vec<Type> = statement.values().iter().map(sql_type).collect();
        self.client.prepare_typed(statement.text(), &types).await
    }

    async fn call(&self, call: Call<'_>) -> Result<Vec<Row>, tokio_postgres::Error> {
        let statement = match call {
            Call::Query(statement) => statement,
            Call::Script(script) => return self.client.batch_execute(script).await.map(|()| Vec::new()),
        };
        let prepared = self.prepared.get(statement.text()).filter(|_| statement.is_persistent);
        let values = statement.values().iter();
        let mut found = pin!(match prepared {
            Some(prepared) => self.client.query_raw(prepared, values.map(parameter)).await?,
            None => {
                let values = values.map(|value| (parameter(value), sql_type(value)));
                self.client.query_typed_raw(statement.text(), values).await?
            }
        });
        let mut rows = Vec::new();
        while let Some(row) = found.try_next().await? {
            rows.push(Row((0..row.len()).map(|column| row.try_get(column)).collect::<Result<_, _>>()?));
        }
        Ok(rows)
    }
}

/// Starts all futures in order, so that their messages are sent together, and returns their results.
///
/// Errors: the first in order.
async fn in_one_flight<T, E>(
    futures: impl Iterator<Item = impl Future<Output = Result<T, E>>>,
) -> Result<Vec<T>, E> {
    let mut started: Vec<_> = futures.map(|future| Box::pin(maybe_done(future))).collect();
    poll_fn(|context| {
        for future in &mut started {
            let _ = future.as_mut().poll(context);
        }
        Poll::Ready(())
    })
    .await;
    let mut results = Vec::with_capacity(started.len());
    for future in &mut started {
        future.as_mut().await;
        results.extend(future.as_mut().take_output().transpose()?);
    }
    Ok(results)
}

async fn connect(options: &PostgresOptions) -> Result<(Session, JoinHandle<()>), EntityStoreError> {
    let not_opened = |error| not_opened(&error);
    let stream: Box<dyn ServerStream> = match &options.socket {
        Some(socket) => Box::new(UnixStream::connect(socket).await.map_err(not_opened)?),
        None => {
            let stream =
                TcpStream::connect((options.host.as_str(), options.port)).await.map_err(not_opened)?;
            stream.set_nodelay(true).map_err(not_opened)?;
            Box::new(stream)
        }
    };
    let stream = secure(stream, options).await?;
    let (client, connection) = options.config.connect_raw(stream, NoTls).await?;
    let driver = tokio::spawn(async {
        if let Err(error) = connection.await {
            tracing::debug!("database of stored content: {error}");
        }
    });
    // A plan lives as long as its connection and is often made while the tables are empty. These
    // settings make the server look rows up by key, whatever the row counts were then. Outside of a
    // transaction that begins as a writing one, nothing can be changed.
    let setup = format!(
        "SHOW default_transaction_read_only; SET enable_seqscan = off; SET jit = off; SET statement_timeout = {}; SET lock_timeout = {};
         SET idle_in_transaction_session_timeout = {}; SET client_min_messages = warning;
         SET default_transaction_isolation = 'read committed'; SET default_transaction_read_only = on;
         {FAST_COMPRESSION}",
        STATEMENT_TIMEOUT.as_millis(),
        LOCK_TIMEOUT.as_millis(),
        IDLE_TIMEOUT.as_millis()
    );
    let shown = client.simple_query(&setup).await?;
    let is_read_only = shown.iter().any(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0) == Some("on"),
        _ => false,
    });
    // A database whose administrator allows only reads stays so.
    let begin_write = if is_read_only { "BEGIN" } else { "BEGIN READ WRITE" };
    Ok((Session { client, prepared: HashMap::new(), begin_write }, driver))
}

/// The type of a value; the server never guesses it.
fn sql_type(value: &SqlValue) -> Type {
    match value {
        SqlValue::Number(_) => Type::INT8,
        SqlValue::Text(_) => Type::TEXT,
        SqlValue::Null | SqlValue::Bytes(_) => Type::BYTEA,
    }
}

/// A value for the driver. PostgreSQL stores no NUL in a text.
fn parameter(value: &SqlValue) -> Box<dyn ToSql + Sync + '_> {
    match value {
        SqlValue::Null => Box::new(None::<&[u8]>),
        SqlValue::Number(number) => Box::new(number),
        SqlValue::Text(text) if text.contains('\0') => Box::new(text.replace('\0', "\u{fffd}")),
        SqlValue::Text(text) => Box::new(text),
        SqlValue::Bytes(bytes) => Box::new(bytes.as_slice()),
    }
}

impl<'r> FromSql<'r> for SqlValue {
    fn from_sql(ty: &Type, raw: &'r [u8]) -> Result<SqlValue, Box<dyn std::error::Error + Sync + Send>> {
        Ok(match *ty {
            Type::BOOL => SqlValue::Number(bool::from_sql(ty, raw)?.into()),
            Type::INT4 => SqlValue::Number(i32::from_sql(ty, raw)?.into()),
            Type::INT8 => SqlValue::Number(i64::from_sql(ty, raw)?),
            Type::BYTEA => SqlValue::from(raw),
            Type::VOID => SqlValue::Null,
            _ => SqlValue::from(<&str>::from_sql(ty, raw)?),
        })
    }

    fn from_sql_null(_: &Type) -> Result<SqlValue, Box<dyn std::error::Error + Sync + Send>> {
        Ok(SqlValue::Null)
    }

    fn accepts(ty: &Type) -> bool {
        [Type::BOOL, Type::INT4, Type::INT8, Type::BYTEA, Type::VOID, Type::TEXT].contains(ty)
    }
}

/// A runtime without a thread of its own; `None` only while it is dropped.
pub(super) struct LocalRuntime(Option<Runtime>);

impl LocalRuntime {
    pub fn new() -> Result<LocalRuntime, EntityStoreError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        runtime
            .map(|runtime| LocalRuntime(Some(runtime)))
            .map_err(|error| EntityStoreError::Other(format!("cannot create a runtime: {error}")))
    }

    /// Blocks until a future on this runtime completes.
    pub fn block_on<T>(
        &self,
        work: impl Future<Output = Result<T, EntityStoreError>>,
    ) -> Result<T, EntityStoreError> {
        let shut_down = || EntityStoreError::Other("its runtime has shut down".to_owned());
        self.0.as_ref().ok_or_else(shut_down)?.block_on(work)
    }
}

impl Drop for LocalRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            // Without waiting: the drop may happen on another runtime.
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_was_never_reached_is_not_called_lost() {
        for url in ["postgres://u@127.0.0.1:1/d", "postgres://u@localhost/d?host=/no/such/folder"] {
            let options = PostgresOptions::parse(url).unwrap();
            let error = PostgresConnection::open(&options, Duration::from_secs(60)).err();
            let reason = "no server can be reached at its address".to_owned();
            assert_eq!(error, Some(EntityStoreError::ConnectionLost(reason)), "{url}");
        }
    }

    #[test]
    fn settings_hold_no_value_of_a_tenant() {
        let tenant = Tenant::Organization("o'\\".to_owned());
        for mode in [TransactionMode::Read, TransactionMode::Search("%x'%"), TransactionMode::Write(77)] {
            let settings = settings(&tenant, mode);
            assert!(!["o'", "x'", "77"].iter().any(|value| settings.text().contains(value)), "{settings:?}");
            assert_eq!(settings.text().matches('$').count(), settings.values().len());
        }
    }

    #[test]
    fn a_text_is_sent_as_it_is_but_for_nul() {
        for (text, sent) in [("o'\\$1\u{fffd}", "o'\\$1\u{fffd}"), ("a\0b", "a\u{fffd}b")] {
            assert_eq!(format!("{:?}", parameter(&SqlValue::from(text))), format!("{sent:?}"));
        }
    }

    #[test]
    fn futures_start_in_order_and_the_first_error_is_returned() {
        let started = std::cell::RefCell::new(Vec::new());
        let future = |number: usize| {
            let started = &started;
            async move {
                started.borrow_mut().push(number);
                // The later ones are ready first.
                tokio::time::sleep(Duration::from_millis(8 - number as u64)).await;
                if number % 4 == 3 { Err(EntityStoreError::Other(number.to_string())) } else { Ok(number) }
            }
        };
        let runtime = LocalRuntime::new().unwrap();
        assert_eq!(runtime.block_on(in_one_flight((0..3).map(future))), Ok(vec![0, 1, 2]));
        let failed = runtime.block_on(in_one_flight((0..8).map(future)));
        assert_eq!(failed, Err(EntityStoreError::Other("3".to_owned())));
        assert_eq!(*started.borrow(), [0, 1, 2, 0, 1, 2, 3, 4, 5, 6, 7]);
    }
}
