//! TLS on the connection to a PostgreSQL server.

use super::super::EntityStoreError;
use super::super::error::lost;
use super::server::{PostgresOptions, TlsMode};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::borrow::Cow;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_rustls::{TlsConnector, rustls};

/// The message that asks a server for TLS.
const TLS_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// A connection to a server, with or without TLS.
pub trait ServerStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> ServerStream for S {}

/// Secures a connection as its URL demands.
pub async fn secure(
    mut stream: Box<dyn ServerStream>,
    options: &PostgresOptions,
) -> Result<Box<dyn ServerStream>, EntityStoreError> {
    if options.tls == TlsMode::Disable {
        return Ok(stream);
    }
    let lost = |error| lost(&error);
    stream.write_all(&TLS_REQUEST).await.map_err(lost)?;
    // One byte and no more: what follows belongs to the handshake.
    match stream.read_u8().await.map_err(lost)? {
        b'S' => {}
        b'N' if options.tls == TlsMode::Prefer => return Ok(stream),
        b'N' => {
            return Err(EntityStoreError::Unusable(
                "it does not support TLS, which its URL requires".to_owned(),
            ));
        }
        _ => return Err(EntityStoreError::ConnectionLost("the connection was lost".to_owned())),
    }
    let connector = TlsConnector::from(Arc::new(client_config(options)?));
    let name = ServerName::try_from(options.host.clone()).map_err(|error| invalid(&error))?;
    Ok(Box::new(connector.connect(name, stream).await.map_err(lost)?))
}

fn client_config(options: &PostgresOptions) -> Result<ClientConfig, EntityStoreError> {
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider));
    let config = config.with_safe_default_protocol_versions().map_err(|error| invalid(&error))?;
    let chain = match options.tls {
        TlsMode::VerifyCa | TlsMode::VerifyFull => {
            let roots = Arc::new(roots(options.root_certificates.as_deref())?);
            let verifier = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider));
            let no_roots =
                |_| EntityStoreError::Unusable("no root certificates were found to check its own".to_owned());
            Some(verifier.build().map_err(no_roots)?)
        }
        TlsMode::Disable | TlsMode::Prefer | TlsMode::Require => None,
    };
    let verifier = Arc::new(Verifier { chain, checks_name: options.tls == TlsMode::VerifyFull, provider });
    let config = config.dangerous().with_custom_certificate_verifier(verifier);
    match (&options.client_certificate, &options.client_key) {
        (None, None) => Ok(config.with_no_client_auth()),
        (Some(certificates), Some(key)) => {
            let key = PrivateKeyDer::from_pem_slice(&pem(key)?).map_err(|error| invalid(&error))?;
            config
                .with_client_auth_cert(parse_certificates(certificates)?, key)
                .map_err(|error| invalid(&error))
        }
        _ => Err(EntityStoreError::Unusable("its URL is invalid".to_owned())),
    }
}

/// Returns the named authorities, or else those of the system.
fn roots(named: Option<&str>) -> Result<RootCertStore, EntityStoreError> {
    let mut store = RootCertStore::empty();
    match named {
        Some(named) => {
            for certificate in parse_certificates(named)? {
                store.add(certificate).map_err(|error| invalid(&error))?;
            }
        }
        None => drop(store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs)),
    }
    Ok(store)
}

fn parse_certificates(input: &str) -> Result<Vec<CertificateDer<'static>>, EntityStoreError> {
    let pem = pem(input)?;
    CertificateDer::pem_slice_iter(&pem).collect::<Result<_, _>>().map_err(|error| invalid(&error))
}

/// Returns the content of a file; a value that is PEM itself is taken as it is.
fn pem(input: &str) -> Result<Cow<'_, [u8]>, EntityStoreError> {
    let trimmed = input.trim();
    if trimmed.starts_with("-----BEGIN") && trimmed.ends_with("-----") {
        return Ok(Cow::Borrowed(input.as_bytes()));
    }
    std::fs::read(input).map(Cow::Owned).map_err(|error| invalid(&error))
}

fn invalid(error: &dyn std::error::Error) -> EntityStoreError {
    tracing::debug!("database of stored content: {error}");
    EntityStoreError::Unusable("a certificate or key that its URL names cannot be used".to_owned())
}

/// Checks a certificate as far as a mode demands it, and the server's signature in every mode.
#[derive(Debug)]
struct Verifier {
    /// Checks the authority and the name; `None` to accept any certificate.
    chain: Option<Arc<WebPkiServerVerifier>>,
    checks_name: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        match chain.verify_server_cert(certificate, intermediates, name, ocsp_response, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.checks_name => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
