//! slowhand-tls
