"""Definitions that tests break, and the stored results whose runs execute them."""

BREAKS: dict[str, set[str]] = {
    "capcore.spectra.power_law:_fit": {
        *("capacity_vs_expressivity", "large_layers", "layer_seeds", "resnet_fits", "resnet_spectra", "tails"),
        *("pretrained_spectra", "trained_spectra"),
    },
    "capcore.fitting.gauss_newton:minimise_gauss_newton": {
        *("dilated_blocks", "eigenvalue_counts", "far_structure", "five_families", "layer_redundancy", "lbfgs_sweep"),
        *("multidimensional", "optimum_responses", "random_starts", "similar_components", "stopped_stacks"),
        "where_capacity_goes",
    },
    "capcore.architectures.finite_field:rank_modulo_prime": {
        "layer_redundancy",
        "stopped_stacks",
        "where_capacity_goes",
    },
    "chapters.shared.adam:train": {"along_training", "effective_complexity", "linear_regions", "plane_networks"},
    "chapters.spectra.experiment:train_network": {"large_layers", "trained_spectra"},
    "chapters.shared.training:train": {
        "recurrent_memory",
        "residual_delay",
        "residual_scale",
        "side_inputs",
    },
    "chapters.shared.side_by_side:train_side_by_side": {
        *("capacity_vs_expressivity", "expressivity_ranks", "mimicry"),
    },
}
"""Definition → results: read off profiles, which ``test_executed.py`` makes again."""
