//! TLS on the connection to a PostgreSQL server.

use super::super::EntityStoreError;
use super::super::error::{connection_lost, lost};
use super::server::{PostgresOptions, TlsMode};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::borrow::Cow;
use std::fmt::Display;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_rustls::{TlsConnector, rustls};

/// The reason for a text that cannot be read. The parser's own message may quote a line of a key.
const NO_PEM: &str = "it is not valid PEM, or has nothing of this kind";

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
        _ => return Err(connection_lost()),
    }
    let connector = TlsConnector::from(Arc::new(client_config(options)?));
    let no_name = |_| EntityStoreError::Unusable("the host in its URL is no name for TLS".to_owned());
    let name = ServerName::try_from(options.host.clone()).map_err(no_name)?;
    Ok(Box::new(connector.connect(name, stream).await.map_err(lost)?))
}

fn client_config(options: &PostgresOptions) -> Result<ClientConfig, EntityStoreError> {
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider));
    let no_version = |error| EntityStoreError::Unusable(format!("TLS cannot be used: {error}"));
    let config = config.with_safe_default_protocol_versions().map_err(no_version)?;
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
            let certificates = parse_certificates("sslcert", certificates)?;
            let key =
                PrivateKeyDer::from_pem_slice(&pem("sslkey", key)?).map_err(|_| invalid("sslkey", NO_PEM))?;
            config.with_client_auth_cert(certificates, key).map_err(|error| {
                EntityStoreError::Unusable(format!(
                    "the certificate and the key that `sslcert` and `sslkey` in its URL name cannot be used together: {error}"
                ))
            })
        }
        _ => Err(EntityStoreError::Unusable("its URL is invalid".to_owned())),
    }
}

/// Returns the named authorities, or else those of the system.
fn roots(named: Option<&str>) -> Result<RootCertStore, EntityStoreError> {
    let mut store = RootCertStore::empty();
    match named {
        Some(named) => {
            for certificate in parse_certificates("sslrootcert", named)? {
                store.add(certificate).map_err(|error| invalid("sslrootcert", error))?;
            }
        }
        None => drop(store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs)),
    }
    Ok(store)
}

/// Returns the certificates of a parameter, at least one.
fn parse_certificates(
    parameter: &str,
    input: &str,
) -> Result<Vec<CertificateDer<'static>>, EntityStoreError> {
    let pem = pem(parameter, input)?;
    match CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>() {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        _ => Err(invalid(parameter, NO_PEM)),
    }
}

/// Returns the content of a file; a value that is PEM itself is taken as it is.
fn pem<'a>(parameter: &str, input: &'a str) -> Result<Cow<'a, [u8]>, EntityStoreError> {
    let trimmed = input.trim();
    if trimmed.starts_with("-----BEGIN") && trimmed.ends_with("-----") {
        return Ok(Cow::Borrowed(input.as_bytes()));
    }
    std::fs::read(input).map(Cow::Owned).map_err(|error| invalid(parameter, error))
}

/// The error for the value of a parameter of the URL. The reason has nothing of a key.
fn invalid(parameter: &str, reason: impl Display) -> EntityStoreError {
    let message =
        format!("the certificate or key that `{parameter}` in its URL names cannot be used: {reason}");
    EntityStoreError::Unusable(message)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A self-signed certificate of a key that no test needs.
    const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\n\
        MIIBLjCB4aADAgECAhRGpnUnQfa/RBaZCRrqCawmr0/rPzAFBgMrZXAwDDEKMAgG\n\
        A1UEAwwBYTAgFw0yNjExMjkxNTE5NDJaGA8yMTI2MTEwNTE1MTk0MlowDDEKMAgG\n\
        A1UEAwwBYTAqMAUGAytlcAMhAG80tQMhQ1nsjhn2SGkoDOhMRo9NzVGkfATG1XKB\n\
        uHz8o1MwUTAdBgNVHQ4EFgQUHzcxRAE9s2FP9Yaqag+/O7AZK0QwHwYDVR0jBBgw\n\
        FoAUHzcxRAE9s2FP9Yaqag+/O7AZK0QwDwYDVR0TAQH/BAUwAwEB/zAFBgMrZXAD\n\
        QQAYmTQEEJhEl95YzlkqXKqogl2Ar8Y4wvkU1UunJ+ShvK4C2rdZ13tYgfZIc7wZ\n\
        AS6tj++32/6bnVmyLZMw038I\n\
        -----END CERTIFICATE-----\n";
    /// A key of another certificate.
    const OTHER_KEY: &str = "-----BEGIN PRIVATE KEY-----\n\
        MC4CAQAwBQYDK2VwBCIEIMhb0qgk5uLvHNtRjJj3MLDwub/D4eaRkQspQ6Z9Rpvj\n\
        -----END PRIVATE KEY-----\n";

    #[test]
    fn a_certificate_that_cannot_be_used_is_named_with_the_reason() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).display().to_string();
        for (name, text) in [
            ("broken", "-----BEGIN PRIVATE KEY-----MIIE"),
            ("empty", ""),
            ("certificate", CERTIFICATE),
            ("key", OTHER_KEY),
        ] {
            std::fs::write(path(name), text).unwrap();
        }
        let folder = path("");
        let client =
            |certificate: &str, key: &str| format!("sslcert={}&sslkey={}", path(certificate), path(key));
        let authority = |name: &str| format!("sslmode=verify-ca&sslrootcert={}", path(name));
        for (parameters, named, reason) in [
            (authority("none"), "`sslrootcert`", "No such file"),
            (authority("empty"), "`sslrootcert`", "not valid PEM"),
            (authority("key"), "`sslrootcert`", "not valid PEM"),
            (client("none", "broken"), "`sslcert`", "No such file"),
            (client("empty", "key"), "`sslcert`", "not valid PEM"),
            (client("key", "key"), "`sslcert`", "not valid PEM"),
            (client("certificate", ""), "`sslkey`", "Is a directory"),
            (client("certificate", "broken"), "`sslkey`", "not valid PEM"),
            (client("certificate", "key"), "`sslcert` and `sslkey`", "KeyMismatch"),
        ] {
            let options = PostgresOptions::parse(&format!("postgres://u@h/d?{parameters}")).unwrap();
            let Err(EntityStoreError::Unusable(text)) = client_config(&options) else {
                panic!("{parameters}")
            };
            assert!(text.contains(named) && text.contains(reason), "{text}");
            assert!(!text.contains("MIIE") && !text.contains(&folder), "{text}");
        }
    }
}
