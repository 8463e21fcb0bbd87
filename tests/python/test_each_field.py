"""Each field of each format as null, NaN, infinite, negative, huge, missing or of another type: the reader
refuses it and names file and place, or the answer is finite or says why it is not. What is taken on purpose
stands in TAKEN, with the reason."""

from __future__ import annotations

import copy
import json
import math
import re

import pytest
from convert_support import TREE, every_modifier
from each_field import (
    CARD,
    HISTOGRAMS,
    MOMENTS,
    PATCHES,
    TEMPLATES,
    TOP,
    WORKSPACE,
    XML,
    cases_of_histograms,
    cases_of_json,
    cases_of_templates,
    cases_of_words,
    cases_of_xml,
)

import paritas
from paritas import steering
from paritas.convert import histfactory_xml, hs3
from paritas.losscone import Day

numpy = pytest.importorskip("numpy")
uproot = pytest.importorskip("uproot")

PARTS = 4  # of the cases of a format; a build in a hurry tries some of them
SAVED = (TREE / "tests" / "fuzz" / "corpus" / "python" / "files" / "saved.yml").read_text()
SWEEP = (TREE / "tests" / "fuzz" / "corpus" / "er" / "sweep").read_text()


def hs3_document():
    """One likelihood: a second one would only not be read."""
    document = every_modifier()
    document["data"], document["likelihoods"] = document["data"][:2], document["likelihoods"][:1]
    document["analyses"] = document["analyses"][:1]
    return document


def patches():
    """With the digest of its workspace."""
    made = copy.deepcopy(PATCHES)
    made["metadata"]["digests"] = {"sha256": paritas.Workspace(WORKSPACE).digest()[len("sha256:") :]}
    return made


# ---- readers: from what a case has to a model ----


def put(folder, name, text):
    (folder / name).write_text(text)
    return folder / name


def read_workspace(folder, text):
    return paritas.Workspace.read(put(folder, "workspace.json", text)).model()


def read_hs3(folder, text):
    return paritas.Workspace(hs3.read(put(folder, "hs3.json", text)).spec).model()


def read_patches(folder, text):
    patch_set = paritas.PatchSet(put(folder, "patchset.json", text))
    for name in patch_set:
        patch_set.verify(WORKSPACE)
        return patch_set.apply(WORKSPACE, name).model()
    raise AssertionError("a patch set without patches")


def read_moments(folder, text):
    return paritas.Workspace.from_moments(json.loads(text)).model()


def write_histograms(folder, histograms):
    writing, zero = uproot.writing.identify, [0.0]
    with uproot.recreate(folder / "data.root") as file:
        for name, (contents, squares) in histograms.items():
            file[name] = writing.to_TH1x(
                fName=name,
                fTitle="",
                data=numpy.concatenate([zero, contents, zero]),
                fSumw2=numpy.empty(0) if squares is None else numpy.concatenate([zero, squares, zero]),
                fXaxis=writing.to_TAxis("xaxis", "", len(contents), 0.0, float(len(contents))),
                **dict.fromkeys(("fEntries", "fTsumw", "fTsumw2", "fTsumwx", "fTsumwx2"), 1.0),
            )


def xml_reader(changed_file):
    def read(folder, text):
        if not (folder / "data.root").exists():
            write_histograms(folder, HISTOGRAMS)
        put(folder, "channel.xml", XML.format(file="data.root"))
        put(folder, "top.xml", TOP)
        put(folder, changed_file, text)
        found = histfactory_xml.read(folder / "top.xml", folder)
        return paritas.Workspace(found.spec).model()

    return read


def read_card(folder, text):
    if not (folder / "data.root").exists():
        write_histograms(folder, HISTOGRAMS)
    return paritas.Model.from_workspace(put(folder, "card.txt", text))


def read_xml_histograms(folder, histograms):
    write_histograms(folder, histograms)
    return xml_reader("channel.xml")(folder, XML.format(file="data.root"))


def read_card_histograms(folder, histograms):
    write_histograms(folder, histograms)
    return read_card(folder, CARD.format(file="data.root"))


def read_templates(folder, templates):
    pytest.importorskip("yaml")
    (folder / "saved.yml").write_text(SAVED)
    for name, arrays in templates.items():
        given = {key: numpy.array(rows) for key, rows in arrays.items() if rows is not ...}
        numpy.savez(folder / f"{name}.npz", **given)
    return steering.read(folder / "saved.yml", "saved", folder).model()


def read_day(folder, text):
    return Day.read(put(folder, "day.tab", text), strict=True)


#: format: its cases, its reader, how a refusal names file and place
FORMATS = {
    "workspace": (
        lambda: cases_of_json(WORKSPACE),
        read_workspace,
        r"workspace.json: (line \d+, column \d+|\w+)",
    ),
    "hs3": (lambda: cases_of_json(hs3_document()), read_hs3, r"hs3.json(, at /|: .*(line \d+|char \d+))"),
    "patches": (
        lambda: cases_of_json(patches()),
        read_patches,
        r"patchset.json: (line \d+, column \d+|\w+)|\(patched by .*\): \w+|patch\w*[ :]",
    ),
    "moments": (lambda: cases_of_json(MOMENTS), read_moments, r"moments: (line \d+, column \d+|\w+)"),
    "xml": (
        lambda: cases_of_xml(XML.format(file="data.root")),
        xml_reader("channel.xml"),
        r"(channel|top).xml:\d+: <\w+|top.xml: ",
    ),
    "top": (
        lambda: cases_of_xml(TOP),
        xml_reader("top.xml"),
        r"top.xml:\d+: <\w+|top.xml: ",
    ),
    "card": (
        lambda: cases_of_words(CARD.format(file="data.root")),
        read_card,
        r"card.txt:(\d+:\d+|\d+): |card.txt: ",
    ),
    "histograms by XML": (cases_of_histograms, read_xml_histograms, r"channel.xml:\d+: <\w+|top.xml: "),
    "histograms by card": (cases_of_histograms, read_card_histograms, r"card.txt:\d+:\d+: "),
    "templates": (cases_of_templates, read_templates, r"saved.yml:\d+: "),
    "day": (lambda: cases_of_words(SWEEP), read_day, r"day.tab: line \d+: "),
}

HUGE, ANY_NUMBER, ABSENT = ("huge",), ("negative", "huge"), ("null", "missing")
NAME = "any text is a name"
UNSET = "JSON's null is an absent key"
OVERFLOWS = "the fit says that it is not finite, or makes no progress"
#: format: places, changes (None: all), why they are taken
TAKEN = {
    "workspace": [
        (r".*/name|/measurements/0/config/poi", ("text",), NAME),
        (r".*/(samples|modifiers)/\d", ("missing",), "a model without this part"),
        (r".*/modifiers", ("list",), "a model without these parts"),
        (
            r".*/samples/\d/data/\d",
            ("negative",),
            "weighted events may give negative yields; their sum is checked",
        ),
        (r".*/modifiers/1/data/(hi|lo)_data/\d", ("negative",), "so may those of a variation"),
        (r".*/modifiers/2/data/\d", ("negative",), "pyhf takes the square of a staterror's uncertainty"),
        (r".*/data(/\w+)*(/\d)?", HUGE, OVERFLOWS),
        (r".*/auxdata/0", ANY_NUMBER, "where the constraint is, be it far away"),
        (r".*/sigmas/0", HUGE, "a constraint so wide that it is none"),
        (r".*/bounds/0/0", ("negative",), "a wider range"),
        (r".*/bounds/0/1", HUGE, "a wider range"),
        (r".*/parameters/1(/(inits|bounds|fixed))?", ("missing",), "the default of the modifier"),
        (r".*/fixed", ("truth",), "a constant parameter"),
    ],
    "hs3": [
        (r".*", ABSENT, UNSET),
        (r".*/modifiers/\d/name", None, "ROOT's name of a modifier, which is not read: its parameter counts"),
        (r".*/(name|parameter|parameters/0)", ("text",), NAME),
        (r".*/modifiers|/(distributions/1|data/\d)/axes|/analyses", ("list",), "a model without these parts"),
        (r"/analyses/0/(parameters_of_interest|domains)", ("list",), "an analysis without these"),
        (r".*/staterror", ("object",), "ROOT's defaults"),
        (
            r".*/axes/\d/(min|max|edges/\d)",
            ANY_NUMBER,
            "axes give the number of bins alone, domains a wider range",
        ),
        (r".*/relThreshold", ANY_NUMBER, "all bins are above this threshold, or none"),
        (r".*/contents/\d", ("negative",), "weighted events may give negative yields; their sum is checked"),
        (r".*/errors/\d", ("negative",), "ROOT takes the square of an error"),
        (r".*/(contents/\d|hi|lo)", HUGE, OVERFLOWS),
        (r"/distributions/\d/(x|sigma)", ANY_NUMBER, "where a constraint is, be it far away or wide"),
        (r".*/parameters/2/value", ("negative",), "another start"),
        (r".*/const", ("truth",), "a constant parameter"),
    ],
    "patches": [
        (r".*/(labels/0|description|name|hepdata)", ("text",), NAME),
        (r".*/metadata/values/0", ("negative", "huge", "text"), "values of a patch are words on a signal"),
        (r".*/references", None, "references are not read"),
        (r".*/references/hepdata", None, "references are not read"),
        (r".*/value/\d", ("negative",), "weighted events may give negative yields; their sum is checked"),
        (r".*/value/\d", HUGE, OVERFLOWS),
        (r".*/patch", ("list",), "a patch that changes nothing"),
        (r".*/patch/0", ("missing",), "a patch that changes nothing"),
    ],
    "moments": [
        (
            r"/(background|observed|signal)/\d",
            ANY_NUMBER,
            "a negative yield is checked with its sum; " + OVERFLOWS,
        ),
        (r"/covariance/(0/0|1/1)", HUGE, "a bin that nothing is known of"),
        (r"/third_moments/\d", ANY_NUMBER, "the linear form has no third moments"),
        (r"/(channels/0/name|poi)", ("text",), NAME),
        (r"/(channels|poi|signal|third_moments)", ABSENT, "these may be left out"),
    ],
    "xml": [
        (r"\w+ Name", None, NAME),
        (
            r"Channel HistoPath",
            None,
            "a histogram that its folder lacks is taken from the top, with a note, as in pyhf",
        ),
        (r"\w+ (ConstraintType|NormalizeByTheory|Const|Activate)", ("empty",), "ROOT's default"),
        (r"StatErrorConfig RelErrorThreshold", ANY_NUMBER, "all bins are above this threshold, or none"),
        (r"NormFactor (Low|High)", ANY_NUMBER, "a wider range"),
        (r"OverallSys (High|Low)", HUGE, OVERFLOWS),
    ],
    "top": [
        (r"Measurement Name|POI", None, NAME),
        (r"Combination OutputFilePrefix|Measurement ExportOnly", None, "what ROOT writes is not read"),
        (r"Measurement Lumi", HUGE, OVERFLOWS),
        (r"ParamSetting Const", ("empty",), "ROOT's default"),
        (r"ParamSetting", None, "a parameter that the channels lack is noted"),
    ],
    "card": [
        (r"(imax|jmax|kmax|bin|---) 1", None, "other lines of the header are comments, as in Combine"),
        (r"(imax|jmax|kmax) 2", ("negative", "empty"), "-1 or nothing: counted, as in Combine"),
        (r"observation 3", HUGE, OVERFLOWS),
        (r"process 2", ("negative",), "a signal has a number of 0 or less"),
        (r"(lumi|control|flat|free|width) 1", None, NAME),
        (r"(lumi|flat) [345]", HUGE, "a large effect"),
        (r"free 6", ("empty",), "a range may be left out"),
        (r"width [34]", ANY_NUMBER, "a param that no formula has"),
        (r"SR 3", ANY_NUMBER, "a threshold from -1 on"),
    ],
    "histograms by XML": [
        (r"(signal|top_tilt\w+)/contents/\d", ("negative",), "weighted events may give negative yields"),
        (r".*/contents/\d", HUGE, OVERFLOWS),
        (r"signal/squares/\d", None, "the sample has no StatError"),
        (r"top/squares/\d", HUGE, "a bin that nothing is known of"),
    ],
    "histograms by card": [
        (r"data_obs/contents/\d", ("negative",), "Combine takes a negative bin of the data as 0"),
        (r"(signal|top\w*)/contents/\d", ("negative",), "clipped as in Combine"),
        (r"(signal|top)/squares/\d", HUGE, OVERFLOWS),
        (r"relative/contents/\d", None, "the card does not name it"),
    ],
    "templates": [
        (r"SR_signal/yields/\d", ANY_NUMBER, "a negative yield is noted; " + OVERFLOWS),
        (r"SR_observed/yields/\d", HUGE, OVERFLOWS),
        (r"SR_signal/stdev/\d", ("nan",), "noted: there is no uncertainty"),
        (r"SR_observed/stdev/\d", ("nan", "infinity", "huge"), "data have no uncertainty"),
        (r".*/bins(/\d)?", None, "the configuration has the bins"),
    ],
    "day": [
        (r"\S+ [567]", ANY_NUMBER, "a field has any sign; sweeps of an impossible one are masked"),
        (r"\S+ \d+", ANY_NUMBER, "cells without a flux or an angle are masked"),
    ],
}


def judge(name, answer):
    """What is wrong with an answer; None: nothing."""
    if name == "day":
        good = answer.cell_reason == 0
        return None if numpy.isfinite(answer.flux[good]).all() else "a flux that is no number, and not masked"
    fit = answer.fit()
    if math.isfinite(fit.twice_nll) or fit.status != "converged":
        return None
    return f"a fit that {fit.status} at {fit.twice_nll}"


def reason_of(name, case):
    for places, changes, reason in TAKEN.get(name, ()):
        if re.fullmatch(places, case.place) and (changes is None or case.change in changes):
            return reason
    return None


@pytest.mark.many
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", FORMATS)
def test_each_field_is_refused_by_its_place_or_right(name, part, tmp_path):
    cases, read, place = FORMATS[name]
    wrong = []
    for case in list(cases())[part::PARTS]:
        try:
            answer = read(tmp_path, case.document)
        except paritas.Error as refusal:
            if not re.search(place, str(refusal)):
                wrong.append(f"{case.place} {case.change}: refused without a place: {refusal}")
            continue
        found = judge(name, answer)
        if found:
            wrong.append(f"{case.place} {case.change}: {found}")
        elif not reason_of(name, case):
            wrong.append(f"{case.place} {case.change}: taken")
    assert not wrong, f"{len(wrong)} of {name}:\n" + "\n".join(wrong)


@pytest.mark.parametrize("name", FORMATS)
def test_the_unchanged_document_is_read(name, tmp_path):
    """Else each change would be refused for another reason than its own."""
    documents = {
        "workspace": json.dumps(WORKSPACE),
        "hs3": json.dumps(hs3_document()),
        "patches": json.dumps(patches()),
        "moments": json.dumps(MOMENTS),
        "xml": XML.format(file="data.root"),
        "top": TOP,
        "card": CARD.format(file="data.root"),
        "templates": TEMPLATES,
        "day": SWEEP,
    }
    answer = FORMATS[name][1](tmp_path, documents.get(name, HISTOGRAMS))
    assert judge(name, answer) is None
    assert name == "day" or answer.fit().status == "converged"
