//! slowhand-lab
