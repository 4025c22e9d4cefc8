//! slowhand-py
