/* record.h: keeps each model that a file of ROOT makes, for root_sources.py.
 *
 * A measurement that becomes a model, and a JSON text that is read, goes to a folder of its own first:
 *
 *     output/00/workspace.root   the RooWorkspace, which is the truth
 *              /workspace.json   RooFit's export of it; or refused_by_root.txt, its reason
 *              /xml/             Measurement::PrintXML; its paths start at output/00
 *              /given.json       a JSON text that is read; then without the others
 *              /...root          inputs, which the next model may overwrite */
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <RooFitHS3/RooJSONFactoryWSTool.h>
#include <RooStats/HistFactory/MakeModelAndMeasurementsFast.h>
#include <RooStats/HistFactory/Measurement.h>

namespace paritas
{
using RooStats::HistFactory::Measurement;

inline std::filesystem::path &output()
{
    static std::filesystem::path folder;
    return folder;
}
inline std::filesystem::path new_folder()
{
    static int count = 0;
    std::filesystem::path folder =
        output() / (count < 10 ? "0" + std::to_string(count) : std::to_string(count));
    std::filesystem::create_directories(folder);
    ++count;
    return folder;
}
inline std::filesystem::path keep_workspace(RooWorkspace &workspace)
{
    auto const folder = new_folder();
    workspace.writeToFile((folder / "workspace.root").c_str());
    try {
        RooJSONFactoryWSTool{workspace}.exportJSON((folder / "workspace.json").string());
    } catch (std::exception const &error) {
        std::filesystem::remove(folder / "workspace.json");
        std::ofstream(folder / "refused_by_root.txt") << error.what() << "\n";
    }
    return folder;
}
inline Measurement &kept(Measurement &measurement)
{
    measurement.PrintXML("xml", "results"); /* before ROOT points it to the histograms in its own output */
    std::unique_ptr<RooWorkspace> workspace{RooStats::HistFactory::MakeModelAndMeasurementFast(measurement)};
    auto const folder = keep_workspace(*workspace);
    std::filesystem::rename("xml", folder / "xml");
    for (auto const &one : std::filesystem::recursive_directory_iterator(".")) {
        auto const to = folder / one.path();
        if (one.path().extension() == ".root" &&
            one.path().string().find("_model.root") == std::string::npos) {
            std::filesystem::create_directories(to.parent_path());
            std::filesystem::copy_file(one.path(), to, std::filesystem::copy_options::overwrite_existing);
        }
    }
    return measurement;
}
inline std::string kept(std::string const &json)
{
    if (json.find("histfactory_dist") != std::string::npos)
        std::ofstream(new_folder() / "given.json") << json;
    return json;
}
} // namespace paritas
