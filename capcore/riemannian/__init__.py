"""Fitting at scale: Newton's method on the manifold of tensor trains, without any n × n matrix."""
