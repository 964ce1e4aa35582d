"""Faults of what is written of releases: hidden fields, edited records, labels that are HTML."""

from tests.mutants.fault import Fault

FAULTS = (
    Fault(
        "plain-hidden-fields",
        "Fields that an object hides are among its public parameters.",
        "plain._shown",
        "if each.repr",
        "if each.name",
        "releases/publishing/test_plain.py",
    ),
    Fault(
        "json-edited",
        "A release is read though its text says another number than it stores.",
        "of_json",
        "if not agrees or record is None:",
        "if record is None:",
        "releases/test_json.py",
    ),
    Fault(
        "json-edited-interval",
        "Only some of what a text says of a release is compared with what it stores.",
        "_read_and_compared",
        'if seal is None or kept["version"] != VERSION:',
        "if kept:",
        "releases/test_json.py",
    ),
    Fault(
        "json-unsealed",
        "What a text stores may be changed where nothing else says it.",
        "_read_and_compared",
        "if seal is not None and seal",
        "if not kept and seal",
        "releases/test_json.py",
    ),
    Fault(
        "page-data-ends-early",
        "A label can end the data of a page, and go on as HTML.",
        "page.page",
        '.replace("<", "\\\\u003c")',
        "",
        "releases/publishing/test_report.py",
    ),
    Fault(
        "page-cells-as-they-are",
        "Labels in a table of a page are HTML.",
        "page.numbers",
        "{escaped(cell)}",
        "{cell}",
        "releases/publishing/test_report.py",
    ),
    Fault(
        "page-narrow-noise",
        "The noise on a page is drawn as if it were exceeded twice as often as it is.",
        "noise_ends",
        "bound(2 * alpha)",
        "bound(4 * alpha)",
        "releases/publishing/test_report.py",
    ),
    Fault(
        "noise-beyond-floats",
        "A mean whose noise is wider than the floats is not written as JSON.",
        "MeanErrorModel.to_dict",
        "min(self.noise.variance**0.5 * self.lattice.step, float_info.max)",
        "self.noise.variance**0.5 * self.lattice.step",
        "releases/test_json.py",
    ),
    Fault(
        "shrunk-beyond-floats",
        "Means of groups are not shrunk if the noise of one is wider than the floats: an error.",
        "in_common",
        "np.minimum(noise, _WIDEST)",
        "noise",
        "statistics/groups/test_shrinkage.py",
    ),
)
